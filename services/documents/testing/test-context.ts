/** A world with identity and documents in it, for tests, and what people do there. */
import { newId } from '#libs/contract';
import type { AnyService } from '#libs/service';
import { register, type TestApp, type TestResponse, testApp } from '#libs/testing';
import { contracts } from '../../contracts.ts';

/** Somebody who asks: `as` is their token or key. */
export interface TestMember {
  as: string;
  id: string;
}

/** The world with a few shortcuts. */
export interface TestContext {
  app: TestApp;
  /** The admin of a new organization. */
  admin(): Promise<TestMember>;
  /** A new member of the organization of this admin. */
  member(testMember: TestMember): Promise<TestMember>;
  /** Makes a document and gives it; rejects when it is refused. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  create(who: TestMember, body?: unknown): Promise<any>;
  /** Asks for a document, or something below it. */
  request(
    who: TestMember,
    method: string,
    path: string,
    body?: unknown,
    headers?: Headers,
  ): Promise<TestResponse>;
  /** Changes the row of a document behind the service's back, to a state that is hard to reach. */
  set(id: string, fields: Record<string, unknown>): Promise<void>;
}

type Headers = Record<string, string>;

/** Starts the world. */
export async function testContext(
  services: readonly AnyService[],
  environment: Record<string, string> = {},
): Promise<TestContext> {
  return testContextFor(await testApp({ services, contracts, environment }));
}

/** The shortcuts over a world, or over a replica of one. */
export function testContextFor(here: TestApp): TestContext {
  return {
    app: here,
    async admin() {
      const { key, userId } = await register(here);
      return { as: key, id: userId };
    },
    async member({ as }) {
      const invited = { as, body: { email: `${newId()}@example.com` } };
      const { token } = (await here.request('POST', '/members/invitations', invited)).body;
      const body = { token, name: 'Member', password: `correct horse ${newId()}` };
      const session = (await here.request('POST', '/members/invitations/accept', { body })).body;
      return { as: session.access_token, id: session.member.id };
    },
    async create({ as }, body = { title: 'SOP' }) {
      const made = await here.request('POST', '/documents', { as, body });
      if (made.status !== 201) throw new Error(JSON.stringify(made.body));
      return made.body;
    },
    request: ({ as }, method, path, body, headers = {}) =>
      here.request(method, `/documents/${path}`, { as, headers, ...(body !== undefined && { body }) }),
    async set(id, fields) {
      await here.db.collection<{ _id: string }>('documents').updateOne({ _id: id }, { $set: fields });
    },
  };
}
