/** Models the lifecycle of documents: the response to each command, and the resulting state. */

/** A document in the model. It is identified by the name in the command that created it. */
export interface ModelDocument {
  family: string;
  parent: string | null;
  status: 'draft' | 'published' | 'archived' | 'deleted';
  version: string | null;
  hasEditor: boolean;
  nodes: number;
  /** The number of publishes before that of this document; null until it is published. */
  publishIndex: number | null;
  /** The number of times the family's links were revoked. */
  epoch: number;
}

type ModelDocuments = Readonly<Record<string, ModelDocument>>;

/** The state that commands change. */
export interface Model {
  documents: ModelDocuments;
  published: number;
  limit: number;
  events: readonly string[];
}

/** The types of commands. */
export const commandTypes = [
  ...(['create', 'duplicate', 'version', 'node', 'publish', 'revise', 'archive', 'remove'] as const),
  ...(['assign', 'unassign', 'fire'] as const),
];

/** A command on the document `on`. If it creates a document, the new document is called `name`. */
export interface Command {
  type: (typeof commandTypes)[number];
  on: string;
  name: string;
  version: string | null;
}

/** Returns the status of the response to a command, and the resulting state. */
export function applyCommand(model: Model, { type, on, name, version }: Command): [status: number, Model] {
  const { documents, published, limit } = model;
  const reject = (status: number): [number, Model] => [status, model];
  const accept = (status: number, changed: ModelDocuments, ...events: string[]): [number, Model] => [
    status,
    { ...model, documents: { ...documents, ...changed }, events: [...model.events, ...events] },
  ];
  const draft = { status: 'draft', publishIndex: null } as const;
  const blank = { ...draft, family: name, parent: null, version: null, hasEditor: false, nodes: 0, epoch: 0 };
  if (type === 'create') return accept(201, { [name]: { ...blank, version } });
  const document = documents[on];
  if (!document || document.status === 'deleted') return reject(404);
  const is = (status: ModelDocument['status']) => document.status === status;
  const set = (change: Partial<ModelDocument>) => ({ [on]: { ...document, ...change } });
  const setFamily = (change: (member: ModelDocument) => Partial<ModelDocument>) =>
    Object.fromEntries(
      Object.entries(documents)
        .filter(([, member]) => member.family === document.family)
        .map(([id, member]) => [id, { ...member, ...change(member) }]),
    );
  const parentVersion = document.parent === null ? undefined : documents[document.parent]?.version;
  switch (type) {
    case 'duplicate':
      return accept(201, { [name]: { ...blank, version: document.version, nodes: document.nodes } });
    case 'version':
      if (is('archived') || (is('draft') && parentVersion && parentVersion === version)) return reject(400);
      return accept(200, set({ version }));
    case 'node':
      return is('archived') ? reject(400) : accept(201, set({ nodes: document.nodes + 1 }));
    case 'publish': {
      if (!is('draft') || published === limit) return reject(is('draft') ? 402 : 400);
      const superseded = setFamily(({ status }) => ({
        status: status === 'published' ? 'archived' : status,
      }));
      const event = document.parent === null ? 'published' : 'revised';
      const changed = { ...superseded, ...set({ status: 'published', publishIndex: published }) };
      const [status, after] = accept(200, changed, `document.${event} ${on}`);
      return [status, { ...after, published: published + 1 }];
    }
    case 'revise':
      return is('published') ? accept(201, { [name]: { ...document, ...draft, parent: on } }) : reject(400);
    case 'archive': {
      if (!is('published')) return reject(400);
      const archived = setFamily(({ epoch, status }) => ({
        epoch: epoch + 1,
        status: status === 'published' ? 'archived' : status,
      }));
      return accept(200, archived, `document.archived ${on}`);
    }
    case 'remove':
      return is('draft') ? accept(204, set({ status: 'deleted' }), `document.deleted ${on}`) : reject(400);
    case 'assign':
      return is('archived') ? reject(400) : accept(200, set({ hasEditor: true }), `document.assigned ${on}`);
    case 'unassign':
      return is('archived') ? reject(400) : accept(200, set({ hasEditor: false }));
    case 'fire':
      // plans with a publish limit have no webhooks
      return [202, model];
  }
}

/** Returns the names in the history of a document. */
export function listHistory(documents: ModelDocuments, name: string): string[] {
  const family = Object.entries(documents).filter(
    ([, { family, status }]) => family === documents[name]?.family && status !== 'deleted',
  );
  if (family.length < 2) return [];
  const published = family.filter(([, { publishIndex }]) => publishIndex !== null);
  return published.sort(([, a], [, b]) => Number(a.publishIndex) - Number(b.publishIndex)).map(([id]) => id);
}
