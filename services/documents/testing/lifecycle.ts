/** Provides a client for tests of the document lifecycle. Reads events and ledger rows from MongoDB. */
import { type AnyJson, setPlan, type TestResponse } from '#libs/testing';
import type { TestContext, TestMember } from './test-context.ts';

type Headers = Record<string, string>;
type LifecycleRequest = (member: TestMember, id: string, headers?: Headers) => Promise<TestResponse>;

/** A published event. */
export interface PublishedEvent {
  id: string;
  type: string;
  occurred_at: string;
  organization_id: string;
  actor_id: string | null;
  data: AnyJson;
}

/** Sends lifecycle requests and reads their results. */
export interface LifecycleClient {
  publish: LifecycleRequest;
  revise: LifecycleRequest;
  archive: LifecycleRequest;
  remove: LifecycleRequest;
  /** Creates and publishes a document, and returns the published document. */
  createPublished(member: TestMember, body?: unknown): Promise<AnyJson>;
  /** Creates a revision draft and returns it. */
  createRevision(member: TestMember, id: string): Promise<AnyJson>;
  /** Returns the current document. */
  get(member: TestMember, id: string): Promise<AnyJson>;
  /** Returns the ids of the versions in a history. */
  history(member: TestMember, id: string): Promise<string[]>;
  /** Returns the events about these documents except `document.updated`, oldest first. */
  publishedEvents(...ids: string[]): Promise<PublishedEvent[]>;
  /** Returns the `document.updated` events of these documents, oldest first. */
  updates(...ids: string[]): Promise<PublishedEvent[]>;
  /** Counts the publish events of these documents in the ledger. */
  countPublished(...ids: string[]): Promise<number>;
  setPlan(organizationId: string, plan: string): Promise<void>;
}

/** Creates the lifecycle client of a test context. */
export function lifecycleClient(context: TestContext): LifecycleClient {
  const { app } = context;
  const createRequest =
    (method: string, path: string): LifecycleRequest =>
    (member, id, headers) =>
      context.request(member, method, `${id}${path}`, undefined, headers);
  const [publish, revise, archive] = ['/publish', '/revise', '/archive'].map((path) =>
    createRequest('POST', path),
  ) as [LifecycleRequest, LifecycleRequest, LifecycleRequest];
  const getBody = ({ status, body }: TestResponse) => {
    if (status >= 300) throw new Error(JSON.stringify(body));
    return body;
  };
  const findEvents = async (ids: string[]) => {
    const rows = app.db.collection<{ _id: string; event: string }>('documents_outbox');
    const all = (await rows.find().sort({ _id: 1 }).toArray()).map(
      ({ event }): PublishedEvent => JSON.parse(event),
    );
    return all.filter(({ data }) => ids.includes(data.document?.id));
  };
  return {
    publish,
    revise,
    archive,
    remove: createRequest('DELETE', ''),
    createPublished: async (member, body) =>
      getBody(await publish(member, (await context.create(member, body)).id)),
    createRevision: async (member, id) => getBody(await revise(member, id)),
    get: async (member, id) => getBody(await context.request(member, 'GET', id)),
    async history(member, id) {
      const records: { id: string }[] = getBody(await context.request(member, 'GET', `${id}/history`));
      return records.map((record) => record.id);
    },
    publishedEvents: async (...ids) =>
      (await findEvents(ids)).filter(({ type }) => type !== 'document.updated'),
    updates: async (...ids) => (await findEvents(ids)).filter(({ type }) => type === 'document.updated'),
    countPublished: (...ids) =>
      app.db.collection('publish_ledger').countDocuments({ document_id: { $in: ids } }),
    setPlan: (organizationId, plan) => setPlan(app, organizationId, plan),
  };
}

/** Returns the status and the problem code of a response. */
export function outcome({ status, body }: TestResponse): [number, string | undefined] {
  return [status, body?.code];
}
