/** A real organization beside a model: deeds are done over HTTP, and what is true is seen from outside. */
import { newId } from '#libs/contract';
import type { DocumentRow } from '../store/collections.ts';
import { type LifecycleClient, lifecycleClient } from './lifecycle.ts';
import { type Deed, historyIn, type Model } from './model.ts';
import type { TestContext, TestMember } from './test-context.ts';

/** What is seen of the real thing, and what a model says should be seen. */
export interface Seen {
  documents: Record<string, unknown>;
  histories: Record<string, string[]>;
  published: number;
  said: string[];
}

/** One run of deeds in an organization whose quota is fresh. */
export interface Run {
  /** Does a deed at one of the replicas; gives the status of the answer. */
  do(deed: Deed, replica?: number): Promise<number>;
  /** What is true now of these documents. */
  see(names: readonly string[]): Promise<Seen>;
}

/** Begins a run; `admin` is on a plan with a limit. */
export async function beginRun(
  replicas: readonly TestContext[],
  admin: TestMember,
  organizationId: string,
): Promise<Run> {
  const [first] = replicas;
  if (!first) throw new Error('At least one replica is wanted');
  const { db } = first.app;
  const life: LifecycleClient = lifecycleClient(first);
  await db.collection('publish_ledger').deleteMany({ organization_id: organizationId });
  await db.collection<{ _id: string }>('publish_usage').deleteMany({ _id: { $regex: `^${organizationId}` } });
  const ids = new Map<string, string>();
  const idOf = (name: string) => ids.get(name) ?? newId();
  const nameOf = (id: string | null) => [...ids].find(([, one]) => one === id)?.[0] ?? null;

  return {
    async do({ deed, on, name, version }, replica = 0) {
      const requests: Record<Deed['deed'], [method: string, path: string, body?: unknown]> = {
        create: ['POST', '', { title: name, version }],
        duplicate: ['POST', '/duplicate'],
        version: ['PATCH', '', { version }],
        node: ['POST', '/nodes', { node_type: 'section', title: 'S', order: 0 }],
        publish: ['POST', '/publish'],
        revise: ['POST', '/revise'],
        archive: ['POST', '/archive'],
        remove: ['DELETE', ''],
        assign: ['PATCH', '/editor', { editor_id: admin.id }],
        unassign: ['PATCH', '/editor', { editor_id: null }],
        fire: ['POST', '/trigger-webhooks', { event_type: 'document.archived' }],
      };
      const [method, path, body] = requests[deed];
      const { request } = (replicas[replica] ?? first).app;
      const place = deed === 'create' ? '/documents' : `/documents/${idOf(on)}${path}`;
      const told = await request(method, place, { as: admin.as, ...(body !== undefined && { body }) });
      const isNew = deed === 'create' || deed === 'duplicate' || deed === 'revise';
      if (isNew && told.status === 201) ids.set(name, told.body.id);
      return told.status;
    },

    async see(names) {
      const documents: Seen['documents'] = {};
      const histories: Seen['histories'] = {};
      const look = async (name: string) => {
        const { status, body } = await first.request(admin, 'GET', idOf(name));
        if (status === 404) {
          documents[name] = 'deleted';
          return;
        }
        const row = await db.collection<DocumentRow>('documents').findOne({ _id: body.id });
        documents[name] = {
          family: nameOf(row?.family_id ?? null),
          parent: nameOf(body.parent_doc_id),
          status: body.status,
          version: body.version,
          hasEditor: body.editor_id === admin.id,
          nodes: body.nodes.length,
          wasPublished: body.published_at !== null,
          wasArchived: body.archived_at !== null,
          epoch: row?.share_epoch,
        };
        histories[name] = (await life.history(admin, body.id)).map((id) => String(nameOf(id)));
      };
      await Promise.all(names.map(look));
      const { body } = await first.app.request('GET', '/organization/subscription', { as: admin.as });
      const events = await life.publishedEvents(...ids.values());
      const said = events.map(({ type, data }) => `${type} ${nameOf(data.document.id)}`);
      return { documents, histories, published: body.publish_used, said: said.sort() };
    },
  };
}

/** What a model says should be seen. */
export function seenOf({ documents, published, said }: Model): Seen {
  const alive = Object.entries(documents).filter(([, { status }]) => status !== 'deleted');
  const shown = Object.entries(documents).map(([name, { turn, ...one }]) => [
    name,
    one.status === 'deleted'
      ? 'deleted'
      : { ...one, wasPublished: turn !== null, wasArchived: one.status === 'archived' },
  ]);
  return {
    documents: Object.fromEntries(shown),
    histories: Object.fromEntries(alive.map(([name]) => [name, historyIn(documents, name)])),
    published,
    said: [...said].sort(),
  };
}
