/** Provides a test app with shortcuts for members and documents. */
import type { AnyService } from '#libs/service';
import {
  type AnyJson,
  addMember,
  createDocument,
  register,
  type TestApp,
  type TestResponse,
  testApp,
} from '#libs/testing';
import { contracts } from '../../contracts.ts';

/** A user who sends requests. `as` is their access token or API key. */
export interface TestMember {
  as: string;
  id: string;
}

/** A test app with shortcuts. */
export interface TestContext {
  app: TestApp;
  /** Registers a new organization and returns its admin. */
  admin(): Promise<TestMember>;
  /** Adds a new member to the organization of this admin. */
  member(admin: TestMember): Promise<TestMember>;
  /** Creates a document and returns it. Rejects if the request fails. */
  create(member: TestMember, body?: unknown): Promise<AnyJson>;
  /** Sends a request to a path below `/documents/`. */
  request(
    member: TestMember,
    method: string,
    path: string,
    body?: unknown,
    headers?: Headers,
  ): Promise<TestResponse>;
  /** Sets fields of a document's row in MongoDB directly, for states that are hard to reach over HTTP. */
  set(id: string, fields: Record<string, unknown>): Promise<void>;
}

type Headers = Record<string, string>;

/** Starts the services and returns the context. */
export async function testContext(
  services: readonly AnyService[],
  environment: Record<string, string> = {},
): Promise<TestContext> {
  return testContextFor(await testApp({ services, contracts, environment }));
}

/** Adds the shortcuts to a test app or to one of its replicas. */
export function testContextFor(app: TestApp): TestContext {
  return {
    app,
    async admin() {
      const { key, userId } = await register(app);
      return { as: key, id: userId };
    },
    async member({ as }) {
      const { token, userId } = await addMember(app, as);
      return { as: token, id: userId };
    },
    create: ({ as }, body) => createDocument(app, as, body),
    request: ({ as }, method, path, body, headers = {}) =>
      app.request(method, `/documents/${path}`, { as, headers, ...(body !== undefined && { body }) }),
    async set(id, fields) {
      await app.db.collection<{ _id: string }>('documents').updateOne({ _id: id }, { $set: fields });
    },
  };
}
