/** The fixture for tests of acknowledgement: an organization that locks documents, and shortcuts for what people do. */
import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';
import {
  type AnyJson,
  addMember,
  type Member,
  must,
  type Person,
  register,
  requestOrThrow,
  type TestApp,
  type TestResponse,
  testApp,
} from '#libs/testing';
import { contracts } from '../../contracts.ts';
import { services } from '../../testing/services.ts';

/** The shortcuts. All but `form`, `read` and `acknowledge` reject if the request fails. */
export interface AcknowledgementFixture {
  app: TestApp;
  /** Registers an organization that locks what is published. */
  organization(): Promise<Person>;
  member(admin: Person, department?: string): Promise<Member>;
  /** Publishes a document and returns it. */
  publish(as: string, body?: object): Promise<AnyJson>;
  /** Publishes a revision and returns it. `changes` are fields of the draft. */
  revise(as: string, documentId: string, changes?: object): Promise<AnyJson>;
  /** Requests acknowledgements of a document. */
  ask(as: string, documentId: string, body?: object): Promise<AnyJson>;
  getRequest(as: string, requestId: string): Promise<AnyJson>;
  /** Adds readers by their external ids and returns them. */
  addReaders(as: string, requestId: string, externalIds: readonly string[]): Promise<AnyJson[]>;
  listPeople(as: string, requestId: string, query?: string): Promise<AnyJson[]>;
  acknowledge(as: string, document: { id: string; content_hash: string }): Promise<TestResponse>;
  /** Reads a personal link as JSON. */
  read(url: string, headers?: Record<string, string>): Promise<TestResponse>;
  /** Posts the form of a personal link. */
  submit(url: string, fields: Record<string, string>): Promise<TestResponse>;
}

/** Starts all services. */
export async function acknowledgementFixture(
  options: { now?: () => Date; environment?: Record<string, string> } = {},
): Promise<AcknowledgementFixture> {
  const app = await testApp({ services, contracts, ...options });
  const toPath = (url: string) => new URL(url).pathname;
  return {
    app,
    async organization() {
      const admin = await register(app);
      const settings = { settings: { lock_published: true } };
      await must(app, 'PATCH', '/organization', { as: admin.token, body: settings });
      return admin;
    },
    async member(admin, department) {
      const member = await addMember(app, admin.key);
      if (department !== undefined)
        await must(app, 'PATCH', `/members/${member.userId}`, { as: admin.key, body: { department } });
      return member;
    },
    async publish(as, body = {}) {
      const nodes = [{ node_type: 'section', title: 'Open the vault' }];
      const created = { title: 'Vault', version: '1', nodes, ...body };
      const { id } = await must(app, 'POST', '/documents', { as, body: created });
      return must(app, 'POST', `/documents/${id}/publish`, { as });
    },
    async revise(as, documentId, changes = {}) {
      const draft = await must(app, 'POST', `/documents/${documentId}/revise`, { as });
      const version = `${Number(draft.version) + 1}`;
      await must(app, 'PATCH', `/documents/${draft.id}`, { as, body: { version, ...changes } });
      return must(app, 'POST', `/documents/${draft.id}/publish`, { as });
    },
    ask: (as, document_id, body = {}) =>
      must(app, 'POST', '/acknowledgement-requests', { as, body: { document_id, ...body }, status: 201 }),
    getRequest: (as, id) => must(app, 'GET', `/acknowledgement-requests/${id}`, { as }),
    addReaders(as, id, externalIds) {
      const readers = externalIds.map((external_id) => ({ external_id, name: `Reader ${external_id}` }));
      const path = `/acknowledgement-requests/${id}/readers`;
      return must(app, 'POST', path, { as, body: { readers }, status: 200 });
    },
    async listPeople(as, id, query = '') {
      const path = `/acknowledgement-requests/${id}/people${query}`;
      return (await requestOrThrow(app, 'GET', path, { as, status: 200 })).body;
    },
    acknowledge: (as, { id: document_id, content_hash }) =>
      app.request('POST', '/acknowledgements', { as, body: { document_id, content_hash } }),
    read: (url, headers = {}) => app.request('GET', `${toPath(url)}?format=json`, { headers }),
    submit: (url, fields) => app.request('POST', toPath(url), { body: new URLSearchParams(fields) }),
  };
}

/** The status and the problem code of a response; the code is undefined for a success. */
export function outcome({ status, body }: TestResponse): [number, string | undefined] {
  return [status, body?.code];
}

/** The content hash of a document as a link serves it, computed as the documentation describes. */
export function hashServed({ title, version, department, nodes }: AnyJson): string {
  const toNode = ({ node_type, title, content, children }: AnyJson): object => ({
    ...{ node_type, title, content, children: children.map(toNode) },
  });
  const text = canonicalize({ v: 1, title, version, department, nodes: nodes.map(toNode) }) ?? '';
  return `sha256:${createHash('sha256').update(text).digest('hex')}`;
}
