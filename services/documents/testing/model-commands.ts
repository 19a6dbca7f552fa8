/** Runs the commands of a model over HTTP in a real organization, and compares the states. */
import { newId } from '#libs/contract';
import type { DocumentRow } from '../store/collections.ts';
import { type LifecycleClient, lifecycleClient } from './lifecycle.ts';
import { type Command, listHistory, type Model } from './model.ts';
import type { TestContext, TestMember } from './test-context.ts';

/** The state that tests compare: read from the service, or derived from a model. */
export interface ObservedState {
  documents: Record<string, unknown>;
  histories: Record<string, string[]>;
  published: number;
  events: string[];
}

/** A run of commands in an organization with an unused quota. */
export interface ModelRun {
  /** Runs a command at one of the replicas. Returns the status of the response. */
  run(command: Command, replica?: number): Promise<number>;
  /** Reads the current state of these documents. */
  observe(names: readonly string[]): Promise<ObservedState>;
}

/** Starts a run. `admin` must be on a plan with a publish limit. */
export async function startRun(
  replicas: readonly TestContext[],
  admin: TestMember,
  organizationId: string,
): Promise<ModelRun> {
  const [first] = replicas;
  if (!first) throw new Error('At least one replica is required');
  const { db } = first.app;
  const lifecycle: LifecycleClient = lifecycleClient(first);
  await db.collection('publish_ledger').deleteMany({ organization_id: organizationId });
  await db.collection<{ _id: string }>('publish_usage').deleteMany({ _id: { $regex: `^${organizationId}` } });
  const ids = new Map<string, string>();
  const getId = (name: string) => ids.get(name) ?? newId();
  const getName = (id: string | null) => [...ids].find(([, known]) => known === id)?.[0] ?? null;

  return {
    async run({ type, on, name, version }, replica = 0) {
      const requests: Record<Command['type'], [method: string, path: string, body?: unknown]> = {
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
      const [method, suffix, body] = requests[type];
      const { request } = (replicas[replica] ?? first).app;
      const path = type === 'create' ? '/documents' : `/documents/${getId(on)}${suffix}`;
      const response = await request(method, path, { as: admin.as, ...(body !== undefined && { body }) });
      const isNew = type === 'create' || type === 'duplicate' || type === 'revise';
      if (isNew && response.status === 201) ids.set(name, response.body.id);
      return response.status;
    },

    async observe(names) {
      const documents: ObservedState['documents'] = {};
      const histories: ObservedState['histories'] = {};
      const observeDocument = async (name: string) => {
        const { status, body } = await first.request(admin, 'GET', getId(name));
        if (status === 404) {
          documents[name] = 'deleted';
          return;
        }
        const row = await db.collection<DocumentRow>('documents').findOne({ _id: body.id });
        documents[name] = {
          family: getName(row?.family_id ?? null),
          parent: getName(body.parent_doc_id),
          status: body.status,
          version: body.version,
          hasEditor: body.editor_id === admin.id,
          nodes: body.nodes.length,
          wasPublished: body.published_at !== null,
          wasArchived: body.archived_at !== null,
          epoch: row?.share_epoch,
        };
        histories[name] = (await lifecycle.history(admin, body.id)).map((id) => String(getName(id)));
      };
      await Promise.all(names.map(observeDocument));
      const { body } = await first.app.request('GET', '/organization/subscription', { as: admin.as });
      const published = await lifecycle.publishedEvents(...ids.values());
      const events = published.map(({ type, data }) => `${type} ${getName(data.document.id)}`);
      return { documents, histories, published: body.publish_used, events: events.sort() };
    },
  };
}

/** Derives the expected state from a model. */
export function toExpectedState({ documents, published, events }: Model): ObservedState {
  const existing = Object.entries(documents).filter(([, { status }]) => status !== 'deleted');
  const expected = Object.entries(documents).map(([name, { publishIndex, ...document }]) => [
    name,
    document.status === 'deleted'
      ? 'deleted'
      : {
          ...document,
          wasPublished: publishIndex !== null,
          wasArchived: document.status === 'archived',
        },
  ]);
  return {
    documents: Object.fromEntries(expected),
    histories: Object.fromEntries(existing.map(([name]) => [name, listHistory(documents, name)])),
    published,
    events: [...events].sort(),
  };
}
