/** Models the lifecycle of documents: the outcome of each action, and the resulting state. */

/** A document in the model. It is identified by its name, e.g. `d0`. */
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
  /** Whether the words changed after the publication. */
  isEdited?: boolean;
}

type ModelDocuments = Readonly<Record<string, ModelDocument>>;

/** The state that actions change. */
export interface Model {
  documents: ModelDocuments;
  /** The number of publishes, and how many the plan allows. */
  published: number;
  limit: number;
  events: readonly string[];
}

/** The actions on a document that have no further parameter. */
export const plainActions = [
  ...(['duplicate', 'node', 'publish', 'revise', 'archive', 'restore', 'remove'] as const),
  ...(['assign', 'unassign', 'trigger'] as const),
];

type Name = `d${number}`;
type Version = '1' | '2' | 'none';

/** A request to the service, as counterexamples print it and tests write it. */
export type Action =
  | `create ${Version}`
  | `version ${Name} ${Version}`
  | `${(typeof plainActions)[number]} ${Name}`;

/** Returns the parts of an action. Only `create` has no document, only `create` and `version` have a version. */
export function parseAction(action: Action) {
  const [type, ...words] = action.split(' ') as [
    (typeof plainActions)[number] | 'create' | 'version',
    string,
  ];
  const version = words.at(-1) === 'none' ? null : String(words.at(-1));
  return { type, on: type === 'create' ? undefined : words[0], version };
}

/** Returns the outcome of an action, and the resulting state. A new document is called `name`. */
export function applyAction(model: Model, action: Action, name: string): [outcome: string, Model] {
  const { type, on = name, version } = parseAction(action);
  const { documents, published, limit } = model;
  const reject = (outcome: string): [string, Model] => [outcome, model];
  const accept = (outcome: string, changed: ModelDocuments, ...events: string[]): [string, Model] => [
    outcome,
    { ...model, documents: { ...documents, ...changed }, events: [...model.events, ...events] },
  ];
  const draft = { status: 'draft', publishIndex: null } as const;
  const blank = { ...draft, family: name, parent: null, version: null, hasEditor: false, nodes: 0, epoch: 0 };
  if (type === 'create') return accept('201 draft', { [name]: { ...blank, version } });
  const document = documents[on];
  if (!document || document.status === 'deleted') return reject('404 not_found');
  const { status, nodes, parent } = document;
  const set = (change: Partial<ModelDocument>) => ({ [on]: { ...document, ...change } });
  const setFamily = (change: (member: ModelDocument) => Partial<ModelDocument>) =>
    Object.fromEntries(
      Object.entries(documents)
        .filter(([, member]) => member.family === document.family)
        .map(([id, member]) => [id, { ...member, ...change(member) }]),
    );
  const withoutPublished = (member: ModelDocument) =>
    member.status === 'published' ? 'archived' : member.status;
  const edit = (outcome: string, change: Partial<ModelDocument>, ...events: string[]) =>
    status === 'archived' ? reject('400 document_archived') : accept(outcome, set(change), ...events);
  /** A change of the words. The first one of a published version ends its content hash. */
  const editWords = (outcome: string, change: Partial<ModelDocument>) =>
    status === 'published' && !document.isEdited
      ? edit(outcome, { ...change, isEdited: true }, `document.edited ${on}`)
      : edit(outcome, change);
  switch (type) {
    case 'duplicate':
      return accept('201 draft', { [name]: { ...blank, version: document.version, nodes } });
    case 'version':
      if (status === 'draft' && parent && version && documents[parent]?.version === version)
        return reject('400 version_unchanged');
      // equal values change nothing
      return version === document.version
        ? edit(`200 ${status}`, {})
        : editWords(`200 ${status}`, { version });
    case 'node':
      return editWords('201', { nodes: nodes + 1 });
    case 'publish': {
      if (status !== 'draft') return reject('400 document_not_draft');
      if (published === limit) return reject('402 publish_quota_exhausted');
      const superseded = setFamily((member) => ({ status: withoutPublished(member) }));
      const changed = {
        ...superseded,
        ...set({ status: 'published', publishIndex: published, isEdited: false }),
      };
      const event = `document.${parent === null ? 'published' : 'revised'} ${on}`;
      const [outcome, after] = accept('200 published', changed, event);
      return [outcome, { ...after, published: published + 1 }];
    }
    case 'revise':
      if (status !== 'published') return reject('400 document_not_published');
      return accept('201 draft', { [name]: { ...document, ...draft, parent: on } });
    case 'restore': {
      if (status !== 'archived') return reject('400 document_not_archived');
      const isPublished = (member: ModelDocument) =>
        member.family === document.family && member.status === 'published';
      const [original, base] = Object.entries(documents).find(([, member]) => isPublished(member)) ?? [
        on,
        document,
      ];
      return accept('201 draft', { [name]: { ...base, ...draft, parent: original, nodes } });
    }
    case 'archive': {
      if (status !== 'published') return reject('400 document_not_published');
      const revoked = setFamily((member) => ({ epoch: member.epoch + 1, status: withoutPublished(member) }));
      return accept('200', revoked, `document.archived ${on}`);
    }
    case 'remove':
      if (status !== 'draft') return reject('400 document_not_draft');
      return accept('204', set({ status: 'deleted' }), `document.deleted ${on}`);
    case 'assign':
      return edit(`200 ${status}`, { hasEditor: true }, `document.assigned ${on}`);
    case 'unassign':
      return document.hasEditor
        ? edit(`200 ${status}`, { hasEditor: false }, `document.unassigned ${on}`)
        : edit(`200 ${status}`, {});
    case 'trigger':
      // only the plan Scale has webhooks, and the organizations of these tests have none
      return reject('202');
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
