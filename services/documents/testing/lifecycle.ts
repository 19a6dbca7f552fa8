/** What tests of a document's life do again and again, and what they read behind its back. */
import { opsToken, type TestResponse } from '#libs/testing';
import type { TestContext, TestMember } from './test-context.ts';

type Headers = Record<string, string>;
type Step = (who: TestMember, id: string, headers?: Headers) => Promise<TestResponse>;

/** An event as it was said. */
export interface PublishedEvent {
  id: string;
  type: string;
  occurred_at: string;
  organization_id: string;
  actor_id: string | null;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into events of every shape
  data: any;
}

/** The steps of a document's life, and what became of them. */
export interface LifecycleClient {
  publish: Step;
  revise: Step;
  archive: Step;
  remove: Step;
  /** Makes a document and publishes it; gives it as it is then. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  createPublished(who: TestMember, body?: unknown): Promise<any>;
  /** Makes a revision draft and gives it. */
  // biome-ignore lint/suspicious/noExplicitAny: as above
  createRevision(who: TestMember, id: string): Promise<any>;
  /** The document as it is now. */
  // biome-ignore lint/suspicious/noExplicitAny: as above
  get(who: TestMember, id: string): Promise<any>;
  /** The ids of a history. */
  history(who: TestMember, id: string): Promise<string[]>;
  /** The events that requests wrote about these documents, in this order: all but `document.updated`. */
  publishedEvents(...ids: string[]): Promise<PublishedEvent[]>;
  /** The `document.updated` events of these documents, the oldest first. */
  updates(...ids: string[]): Promise<PublishedEvent[]>;
  /** Publish events in the ledger for these documents. */
  countPublished(...ids: string[]): Promise<number>;
  setPlan(organizationId: string, plan: string): Promise<void>;
}

/** The life of documents in a house. */
export function lifecycleClient(home: TestContext): LifecycleClient {
  const { app } = home;
  const step =
    (method: string, deed: string): Step =>
    (who, id, headers) =>
      home.request(who, method, `${id}${deed}`, undefined, headers);
  const [publish, revise, archive] = ['/publish', '/revise', '/archive'].map((deed) =>
    step('POST', deed),
  ) as [Step, Step, Step];
  const bodyOf = ({ status, body }: TestResponse) => {
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
    remove: step('DELETE', ''),
    createPublished: async (who, body) => bodyOf(await publish(who, (await home.create(who, body)).id)),
    createRevision: async (who, id) => bodyOf(await revise(who, id)),
    get: async (who, id) => bodyOf(await home.request(who, 'GET', id)),
    async history(who, id) {
      const records: { id: string }[] = bodyOf(await home.request(who, 'GET', `${id}/history`));
      return records.map((record) => record.id);
    },
    publishedEvents: async (...ids) =>
      (await findEvents(ids)).filter(({ type }) => type !== 'document.updated'),
    updates: async (...ids) => (await findEvents(ids)).filter(({ type }) => type === 'document.updated'),
    countPublished: (...ids) =>
      app.db.collection('publish_ledger').countDocuments({ document_id: { $in: ids } }),
    async setPlan(organizationId, plan) {
      const { status } = await fetch(`${app.management}/ops/organizations/${organizationId}/subscription`, {
        method: 'PUT',
        headers: { authorization: `Bearer ${opsToken}`, 'content-type': 'application/json' },
        body: JSON.stringify({ plan }),
      });
      if (status !== 200) throw new Error(`The plan ${plan} was answered ${status}`);
    },
  };
}

/** Who plays in these tests: making people costs the most time of all, so they are made once. */
export interface TestMembers {
  /** The admin of an organization. */
  ada: TestMember;
  /** Its members: the owner of what they make, the editor that is assigned, and one with no part in it. */
  owner: TestMember;
  editor: TestMember;
  bystander: TestMember;
  /** The admin of another organization. */
  stranger: TestMember;
}

/** Makes the cast. */
export async function createMembers(home: TestContext): Promise<TestMembers> {
  const [ada, stranger] = await Promise.all([home.admin(), home.admin()]);
  const [owner, editor, bystander] = await Promise.all([
    home.member(ada),
    home.member(ada),
    home.member(ada),
  ]);
  return { ada, owner, editor, bystander, stranger };
}

/** Status and code of an answer. */
export function outcome({ status, body }: TestResponse): [number, string | undefined] {
  return [status, body?.code];
}
