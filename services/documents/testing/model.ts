/** The life of documents as a model: what each deed is answered, and what is true afterwards. */

/** A document, known by the name of the deed that made it. */
export interface Modelled {
  family: string;
  parent: string | null;
  status: 'draft' | 'published' | 'archived' | 'deleted';
  version: string | null;
  hasEditor: boolean;
  nodes: number;
  /** How many documents were published before it; null until it is. */
  turn: number | null;
  /** How often the family's links were ended. */
  epoch: number;
}

type Documents = Readonly<Record<string, Modelled>>;

/** Everything that deeds change. */
export interface Model {
  documents: Documents;
  published: number;
  limit: number;
  said: readonly string[];
}

/** What can be done. */
export const deeds = [
  ...(['create', 'duplicate', 'version', 'node', 'publish', 'revise', 'archive', 'remove'] as const),
  ...(['assign', 'unassign', 'fire'] as const),
];

/** Something done to a document; what it makes, it makes under `name`. */
export interface Deed {
  deed: (typeof deeds)[number];
  on: string;
  name: string;
  version: string | null;
}

/** How a deed is answered, and what is true then. */
export function next(model: Model, { deed, on, name, version }: Deed): [status: number, Model] {
  const { documents, published, limit } = model;
  const refused = (status: number): [number, Model] => [status, model];
  const done = (status: number, changed: Documents, ...said: string[]): [number, Model] => [
    status,
    { ...model, documents: { ...documents, ...changed }, said: [...model.said, ...said] },
  ];
  const draft = { status: 'draft', turn: null } as const;
  const blank = { ...draft, family: name, parent: null, version: null, hasEditor: false, nodes: 0, epoch: 0 };
  if (deed === 'create') return done(201, { [name]: { ...blank, version } });
  const it = documents[on];
  if (!it || it.status === 'deleted') return refused(404);
  const is = (status: Modelled['status']) => it.status === status;
  const to = (change: Partial<Modelled>) => ({ [on]: { ...it, ...change } });
  const family = (change: (one: Modelled) => Partial<Modelled>) =>
    Object.fromEntries(
      Object.entries(documents)
        .filter(([, one]) => one.family === it.family)
        .map(([id, one]) => [id, { ...one, ...change(one) }]),
    );
  const original = it.parent === null ? undefined : documents[it.parent]?.version;
  switch (deed) {
    case 'duplicate':
      return done(201, { [name]: { ...blank, version: it.version, nodes: it.nodes } });
    case 'version':
      if (is('archived') || (is('draft') && original && original === version)) return refused(400);
      return done(200, to({ version }));
    case 'node':
      return is('archived') ? refused(400) : done(201, to({ nodes: it.nodes + 1 }));
    case 'publish': {
      if (!is('draft') || published === limit) return refused(is('draft') ? 402 : 400);
      const before = family(({ status }) => ({ status: status === 'published' ? 'archived' : status }));
      const event = it.parent === null ? 'published' : 'revised';
      const after = { ...before, ...to({ status: 'published', turn: published }) };
      const [status, then] = done(200, after, `document.${event} ${on}`);
      return [status, { ...then, published: published + 1 }];
    }
    case 'revise':
      return is('published') ? done(201, { [name]: { ...it, ...draft, parent: on } }) : refused(400);
    case 'archive': {
      if (!is('published')) return refused(400);
      const ended = family(({ epoch, status }) => ({
        epoch: epoch + 1,
        status: status === 'published' ? 'archived' : status,
      }));
      return done(200, ended, `document.archived ${on}`);
    }
    case 'remove':
      return is('draft') ? done(204, to({ status: 'deleted' }), `document.deleted ${on}`) : refused(400);
    case 'assign':
      return is('archived') ? refused(400) : done(200, to({ hasEditor: true }), `document.assigned ${on}`);
    case 'unassign':
      return is('archived') ? refused(400) : done(200, to({ hasEditor: false }));
    case 'fire':
      // no plan with a limit has webhooks
      return [202, model];
  }
}

/** The names in the history of a document. */
export function historyIn(documents: Documents, name: string): string[] {
  const family = Object.entries(documents).filter(
    ([, { family, status }]) => family === documents[name]?.family && status !== 'deleted',
  );
  if (family.length < 2) return [];
  const published = family.filter(([, { turn }]) => turn !== null);
  return published.sort(([, a], [, b]) => Number(a.turn) - Number(b.turn)).map(([one]) => one);
}
