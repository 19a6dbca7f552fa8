/** What tests of a document's life do again and again, and what they read behind its back. */
import { opsToken, type Told } from '#libs/testing';
import type { House, Someone } from './test-context.ts';

type Headers = Record<string, string>;
type Step = (who: Someone, id: string, headers?: Headers) => Promise<Told>;

/** An event as it was said. */
export interface Said {
  id: string;
  type: string;
  occurred_at: string;
  organization_id: string;
  actor_id: string | null;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into events of every shape
  data: any;
}

/** The steps of a document's life, and what became of them. */
export interface Life {
  publish: Step;
  revise: Step;
  archive: Step;
  remove: Step;
  /** Makes a document and publishes it; gives it as it is then. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  published(who: Someone, body?: unknown): Promise<any>;
  /** Makes a revision draft and gives it. */
  // biome-ignore lint/suspicious/noExplicitAny: as above
  revised(who: Someone, id: string): Promise<any>;
  /** The document as it is now. */
  // biome-ignore lint/suspicious/noExplicitAny: as above
  now(who: Someone, id: string): Promise<any>;
  /** The ids of a history. */
  history(who: Someone, id: string): Promise<string[]>;
  /** The events that requests wrote about these documents, in this order: all but `document.updated`. */
  said(...ids: string[]): Promise<Said[]>;
  /** The `document.updated` events of these documents, the oldest first. */
  updates(...ids: string[]): Promise<Said[]>;
  /** Publish events in the ledger for these documents. */
  counted(...ids: string[]): Promise<number>;
  setPlan(organizationId: string, plan: string): Promise<void>;
}

/** The life of documents in a house. */
export function lifeIn(home: House): Life {
  const { here } = home;
  const step =
    (method: string, deed: string): Step =>
    (who, id, headers) =>
      home.ask(who, method, `${id}${deed}`, undefined, headers);
  const [publish, revise, archive] = ['/publish', '/revise', '/archive'].map((deed) =>
    step('POST', deed),
  ) as [Step, Step, Step];
  const bodyOf = ({ status, body }: Told) => {
    if (status >= 300) throw new Error(JSON.stringify(body));
    return body;
  };
  const findEvents = async (ids: string[]) => {
    const rows = here.db.collection<{ _id: string; event: string }>('documents_outbox');
    const all = (await rows.find().sort({ _id: 1 }).toArray()).map(({ event }): Said => JSON.parse(event));
    return all.filter(({ data }) => ids.includes(data.document?.id));
  };
  return {
    publish,
    revise,
    archive,
    remove: step('DELETE', ''),
    published: async (who, body) => bodyOf(await publish(who, (await home.make(who, body)).id)),
    revised: async (who, id) => bodyOf(await revise(who, id)),
    now: async (who, id) => bodyOf(await home.ask(who, 'GET', id)),
    async history(who, id) {
      const records: { id: string }[] = bodyOf(await home.ask(who, 'GET', `${id}/history`));
      return records.map((record) => record.id);
    },
    said: async (...ids) => (await findEvents(ids)).filter(({ type }) => type !== 'document.updated'),
    updates: async (...ids) => (await findEvents(ids)).filter(({ type }) => type === 'document.updated'),
    counted: (...ids) => here.db.collection('publish_ledger').countDocuments({ document_id: { $in: ids } }),
    async setPlan(organizationId, plan) {
      const { status } = await fetch(`${here.management}/ops/organizations/${organizationId}/subscription`, {
        method: 'PUT',
        headers: { authorization: `Bearer ${opsToken}`, 'content-type': 'application/json' },
        body: JSON.stringify({ plan }),
      });
      if (status !== 200) throw new Error(`The plan ${plan} was answered ${status}`);
    },
  };
}

/** Who plays in these tests: making people costs the most time of all, so they are made once. */
export interface Cast {
  /** The admin of an organization. */
  ada: Someone;
  /** Its members: the owner of what they make, the editor that is assigned, and one with no part in it. */
  owner: Someone;
  editor: Someone;
  bystander: Someone;
  /** The admin of another organization. */
  stranger: Someone;
}

/** Makes the cast. */
export async function cast(home: House): Promise<Cast> {
  const [ada, stranger] = await Promise.all([home.admin(), home.admin()]);
  const [owner, editor, bystander] = await Promise.all([
    home.member(ada),
    home.member(ada),
    home.member(ada),
  ]);
  return { ada, owner, editor, bystander, stranger };
}

/** Status and code of an answer. */
export function outcome({ status, body }: Told): [number, string | undefined] {
  return [status, body?.code];
}
