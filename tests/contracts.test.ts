/** Tests that hold for every operation. They are generated from the contracts, so a new operation is tested at once. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import {
  type AnyOperation,
  type Contract,
  getCacheControl,
  getProblems,
  newId,
  openapi,
} from '#libs/contract';
import {
  addMember,
  createWebhook,
  type Person,
  publishDocument,
  register,
  type TestApp,
  testApp,
} from '#libs/testing';
import { apiReference } from '../services/api-reference.ts';
import { contracts } from '../services/contracts.ts';
import { auditActions, unauditedEvents } from '../services/identity/contract.ts';
import { services } from '../services/services.ts';
import { pictureForm } from './permissions/fixture.ts';

const operations: AnyOperation[] = contracts.flatMap((contract) => [...contract.operations]);
const authenticated = operations.filter((operation) => operation.access.authenticated);
const withPath = authenticated.filter((operation) => operation.params);
const withBody = operations.filter((operation) => operation.body && operation.access.authenticated);

let app: TestApp;
let ada: Person;
let bob: Person;
/** Ids of resources of Ada's organization, by the name of their path parameter. */
let resources: Record<string, string>;

beforeAll(async () => {
  app = await testApp({ services, contracts });
  [ada, bob] = await Promise.all([register(app), register(app)]);
  resources = await createResources(ada);
});
afterAll(() => app?.stop());

/** The key of a person, or the access token for an operation that rejects keys. */
function getCredential({ access }: AnyOperation, { key, token }: Person): string {
  return access.name.endsWith('in person') ? token : key;
}

/** The credential with a changed third-last character. Not all bits of a signature's last character are significant. */
function corrupt(credential: string): string {
  return credential.slice(0, -3) + (credential.at(-3) === 'x' ? 'y' : 'x') + credential.slice(-2);
}

describe('every operation', () => {
  test('has a unique id and a unique route', () => {
    expect(new Set(operations.map(({ id }) => id)).size).toBe(operations.length);
    expect(new Set(operations.map(({ method, path }) => `${method} ${path}`)).size).toBe(operations.length);
    // otherwise one path would hide the methods of the other
    const paths = new Set(operations.map(({ path }) => path));
    expect(new Set([...paths].map((path) => path.replaceAll(/\{\w+\}/g, '{}'))).size).toBe(paths.size);
  });

  test('is handled by the service that declares it', async () => {
    const unhandled = [];
    for (const operation of operations) {
      const { status, body } = await app.request(operation.method.toUpperCase(), pathFor(operation, {}), {});
      const isMissing = status === 405 || (status === 404 && body.detail === 'This route does not exist.');
      if (isMissing) unhandled.push(operation.id);
    }
    expect(unhandled).toEqual([]);
  });

  test.each(authenticated)('$id fails with 401 without a valid credential', async (operation) => {
    for (const as of [undefined, 'nonsense', 'pds_nonsense', corrupt(ada.key), corrupt(ada.token)]) {
      const { status, body, headers } = await app.request(
        operation.method.toUpperCase(),
        pathFor(operation, resources),
        as ? { as } : {},
      );
      expect([status, body.code]).toEqual([401, 'unauthenticated']);
      expect(headers.get('www-authenticate')).toMatch(
        as ? /^Bearer error="invalid_token", error_desc/ : /^Bearer$/,
      );
      expect(headers.get('content-type')).toBe('application/problem+json');
    }
  });

  test.each(withPath)(
    '$id in another organization gives the same 404 as an unknown id',
    async (operation) => {
      const body = sampleBody(operation);
      const method = operation.method.toUpperCase();
      const others = await app.request(method, pathFor(operation, resources), {
        as: getCredential(operation, bob),
        body,
      });
      const nothing = await app.request(method, pathFor(operation, {}), {
        as: getCredential(operation, bob),
        body,
      });
      expect(others.status).toBe(404);
      expect({ ...others.body, request_id: '' }).toEqual({ ...nothing.body, request_id: '' });
    },
  );

  test.each(withPath)('$id fails with 404 for a malformed id', async (operation) => {
    const ids = Object.fromEntries(Object.keys(resources).map((name) => [name, 'not-an-id']));
    const { status } = await app.request(operation.method.toUpperCase(), pathFor(operation, ids), {
      as: getCredential(operation, ada),
      body: sampleBody(operation),
    });
    expect(status).toBe(404);
  });

  test.each(withBody)('$id fails with 400 and lists every error of the body', async (operation) => {
    const method = operation.method.toUpperCase();
    const path = pathFor(operation, resources);
    const isMultipart = 'file' in operation.body;
    const nonsense = isMultipart ? new FormData() : { nonsense: 1, more_nonsense: 2 };
    const as = getCredential(operation, ada);
    const { status, body } = await app.request(method, path, { as, body: nonsense });
    expect([status, body.code]).toEqual([400, 'invalid_request']);
    const paths = body.errors.map(({ path: at }: { path: string }) => at);
    if (isMultipart) expect(paths).toContain(`body/${operation.body.file}`);
    else expect(paths).toEqual(expect.arrayContaining(['body/nonsense', 'body/more_nonsense']));
    if (isMultipart) return;
    const halves = { a: '\ud83d', b: { c: ['\ude00'] } };
    const invalid = (await app.request(method, path, { as, body: halves })).body.errors;
    const unicode = invalid.filter(({ message }: { message: string }) => message.includes('Unicode'));
    expect(unicode.map(({ path: at }: { path: string }) => at)).toEqual(['body/a', 'body/b/c/0']);
    const broken = await app.request(method, path, {
      as,
      body: '{"broken',
      headers: { 'content-type': 'application/json' },
    });
    expect([broken.status, broken.body.code]).toEqual([400, 'malformed_json']);
  });
});

describe('secrets', () => {
  /** Names of fields that contain a secret, or a URL that does. `jwks` has public keys only. */
  const secretField = /(^|_)(token|secret|password|key)$|^(invite|reset)_url$/;

  test('no response with a secret is stored by a cache', () => {
    const withSecrets = operations
      .concat(contracts.flatMap(({ adminOperations = [] }) => adminOperations))
      .filter(
        ({ returns }) => !('media' in returns) && findFields(returns).some((name) => secretField.test(name)),
      );
    expect(withSecrets.map(({ id }) => id)).toEqual(
      expect.arrayContaining([
        'logIn',
        'createApiKey',
        'createWebhook',
        'getShareToken',
        'createPasswordReset',
      ]),
    );
    for (const operation of withSecrets)
      expect([operation.id, getCacheControl(operation)]).toEqual([operation.id, 'no-store']);
  });
});

describe('a created resource', () => {
  const readers = operations.filter(({ method }) => method === 'get');
  const toPattern = (path: string) => path.replaceAll(/\{\w+\}/g, '{}');

  test('has a Location exactly if an operation reads a single one', () => {
    const reads = (path: string) => readers.some((one) => toPattern(one.path) === toPattern(path));
    for (const operation of operations.filter(({ status }) => status === 201)) {
      const { id, path, location, returns } = operation;
      const isReadable = reads(`${path}/{id}`) || readers.some((one) => one.returns === returns);
      if (isReadable) expect([id, location]).toEqual([id, expect.any(String)]);
      if (location !== undefined) expect([id, reads(location)]).toEqual([id, true]);
    }
  });

  test('can be read at its Location', async () => {
    const document = `/documents/${resources.doc_id}`;
    const webhook = { name: 'Found', url: 'http://127.0.0.1:9/hook', event_types: ['document.published'] };
    const archived = await publishDocument(app, ada.key);
    await app.request('POST', `/documents/${archived.id}/archive`, { as: ada.key });
    const approver = await addMember(app, ada.token);
    const draft = await app.request('POST', '/documents', { as: ada.key, body: { title: 'Submitted' } });
    const locked = await publishDocument(app, ada.key);
    const approvers = { as: ada.key, body: { approver_ids: [approver.userId] } };
    await app.request('PATCH', `/documents/${locked.id}/approvers`, approvers);
    const submitted = { document_id: draft.body.id, approver_ids: [approver.userId] };
    const requests: [path: string, body?: object][] = [
      ['/documents', { title: 'Found' }],
      [`/documents/${archived.id}/restore`],
      [`${document}/duplicate`],
      [`${document}/revise`],
      [`${document}/share-token`],
      ['/webhooks', webhook],
      ['/approvals', submitted],
      ['/acknowledgement-requests', { document_id: locked.id }],
    ];
    const declared = operations.filter(({ location }) => location !== undefined);
    // the response with a picture has no fields
    const picture = await app.request('POST', '/assets', { as: ada.key, body: pictureForm() });
    const path = picture.headers.get('location')?.replace('/api/v1', '') ?? '';
    const downloaded = await app.request('GET', path, { as: ada.key });
    expect(downloaded.headers.get('etag')).toBe(`"${picture.body.id}"`);
    expect(requests).toHaveLength(declared.length - 1);
    for (const [path, body] of requests) {
      const created = await app.request('POST', path, { as: ada.key, body });
      const location = created.headers.get('location') ?? '';
      expect([path, created.status, location.startsWith('/api/v1/')]).toEqual([path, 201, true]);
      const read = await app.request('GET', location.replace('/api/v1', ''), { as: ada.key });
      expect([read.status, read.body.id ?? read.body.token]).toEqual([
        200,
        created.body.id ?? created.body.token,
      ]);
    }
  });
});

describe('the API reference', () => {
  test('is served and describes every operation with its problems', async () => {
    const { status, body, headers } = await app.request('GET', '/openapi.json');
    expect(status).toBe(200);
    expect(body.openapi).toMatch(/^3\.1/);
    // if this fails, run `npm run generate`
    expect(body).toEqual(JSON.parse(JSON.stringify(openapi(contracts, apiReference))));
    for (const operation of operations) {
      const path = operation.at === 'root' ? operation.path : `/api/v1${operation.path}`;
      const described = body.paths[path]?.[operation.method];
      expect(described?.operationId).toBe(operation.id);
      for (const kind of getProblems(operation)) {
        const { $ref, ...response } = described.responses[kind.status] ?? {};
        const shared = body.components.responses[$ref?.split('/').at(-1)];
        expect((shared ?? response).description).toContain(kind.code);
      }
    }
    const again = await app.request('GET', '/openapi.json', {
      headers: { 'if-none-match': headers.get('etag') ?? '' },
    });
    expect(again.status).toBe(304);
  });

  test('refers only to components that it contains', () => {
    const document = openapi(contracts, apiReference);
    const text = JSON.stringify(document);
    const { components } = z
      .object({ components: z.record(z.string(), z.record(z.string(), z.unknown())) })
      .parse(document);
    const references = [...text.matchAll(/#\/components\/(\w+)\/([\w-]+)/g)];
    expect(new Set(references.map(([, kind]) => kind))).toEqual(new Set(['schemas', 'responses', 'headers']));
    const broken = references.filter(([, kind = '', name = '']) => !components[kind]?.[name]);
    expect(broken.map(([reference]) => reference)).toEqual([]);
    expect(text).not.toContain('"$defs"');
  });

  test('is a page that loads all its files from this origin', async () => {
    const page = await app.request('GET', '/docs');
    expect(page.headers.get('content-security-policy')).toContain("script-src 'self'");
    const html = new TextDecoder().decode(page.bytes);
    expect(html).not.toMatch(/https?:\/\//);
    for (const [, file] of html.matchAll(/(?:src|href)="(docs\/[^"]+)"/g)) {
      expect((await app.request('GET', `/${file}`)).status).toBe(200);
    }
  });
});

describe('the contracts', () => {
  test('give each collection one owner, which also owns its views', () => {
    const owned = contracts.flatMap(getOwned);
    expect(new Set(owned).size).toBe(owned.length);
    for (const contract of contracts)
      for (const view of contract.views) expect(getOwned(contract)).toContain(view.collection);
  });

  test('seal nothing in append-only collections', () => {
    // to encrypt a sealed text again, a service changes its row
    for (const { contract, collections } of services)
      for (const { name, sealed } of collections)
        if (contract.appends?.includes(name)) expect(sealed).toEqual([]);
  });

  test('let no TTL index remove rows of append-only collections', () => {
    for (const { contract, collections } of services)
      for (const appended of contract.appends ?? []) {
        const declared = collections.filter(({ name }) => name === appended);
        expect([appended, declared.length]).toEqual([appended, 1]);
        const expiring = declared.flatMap(({ schema }) =>
          schema.indexes().filter(([, options]) => options.expireAfterSeconds !== undefined),
        );
        expect([appended, expiring]).toEqual([appended, []]);
      }
  });

  test('read only views that their owner publishes', () => {
    const views = contracts.flatMap((contract) => [...contract.views]);
    for (const contract of contracts) for (const view of contract.reads) expect(views).toContain(view);
  });

  test('publish each event that a service consumes, and no others but these', () => {
    const published = contracts.flatMap((contract) => contract.publishes.map(({ name }) => name));
    const consumed = contracts.flatMap((contract) => contract.consumes.map(({ name }) => name));
    // the outbox does not store an event without a consumer
    expect(new Set(published)).toEqual(new Set(consumed));
  });

  test('publish only events that the audit log records or leaves out by name', () => {
    const published = contracts.flatMap((contract) => contract.publishes.map(({ name }) => name));
    const leftOut = unauditedEvents.map(({ name }) => name);
    expect([...auditActions, ...leftOut].sort()).toEqual([...new Set(published)].sort());
  });
});

/** The collections of a service, with the append-only ones. */
function getOwned({ owns, appends = [] }: Contract): string[] {
  return [...owns, ...appends];
}

/** The names of all fields of a response, at any depth. */
function findFields(returns: z.ZodType): string[] {
  const names: string[] = [];
  JSON.stringify(z.toJSONSchema(returns, { io: 'output', unrepresentable: 'any' }), (key, value) => {
    if (key === 'properties') names.push(...Object.keys(value));
    return value;
  });
  return names;
}

/** A valid query for each operation that requires one. */
const sampleQueries: Record<string, string> = { exportWord: '?template_id=default' };

function pathFor(operation: AnyOperation, ids: Record<string, string>): string {
  const path = operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => ids[name] ?? newId());
  return path + (sampleQueries[operation.id] ?? '');
}

/** A valid body for the operation, so that the request passes validation. */
function sampleBody(operation: AnyOperation): unknown {
  const samples: Record<string, unknown> = {
    createNode: { node_type: 'section', title: 'One', order: 1 },
    updateDocument: { title: 'Renamed' },
    updateNode: { title: 'Renamed' },
    updateShareToken: { expires_at: null },
    reorderNodes: { nodes: [] },
    replaceTree: { nodes: [] },
    assignEditor: { editor_id: null },
    updateApprovers: { approver_ids: [] },
    updateAcknowledgementRequest: { due_days: 30 },
    addReaders: { readers: [{ external_id: 'E 1', name: 'Reader' }] },
    updateReview: { every_months: 12 },
    decideApproval: { decision: 'approve', content_hash: `sha256:${'0'.repeat(64)}` },
    triggerWebhooks: { event_type: 'document.published' },
    updateMember: { role: 'admin' },
    updateDepartment: { name: 'Renamed' },
    updateWebhook: { name: 'Renamed' },
    confirmWebhookEvents: { event_ids: [newId()] },
  };
  return samples[operation.id];
}

async function createResources(person: Person): Promise<Record<string, string>> {
  const document = await publishDocument(app, person.key);
  const config = await createWebhook(app, person.key, 'http://127.0.0.1:9/hook');
  const [key] = (await app.request('GET', '/api-keys', { as: person.key })).body;
  const department = await app.request('POST', '/departments', {
    as: person.key,
    body: { name: 'Department' },
  });
  const listener = await app.request('POST', '/webhooks/listeners', { as: person.key });
  const draft = await app.request('POST', '/documents', { as: person.key, body: { title: 'Submitted' } });
  const approver = await addMember(app, person.token);
  const approval = await app.request('POST', '/approvals', {
    as: person.key,
    body: { document_id: draft.body.id, approver_ids: [approver.userId] },
  });
  const locked = await publishDocument(app, person.key);
  const approvers = { as: person.key, body: { approver_ids: [approver.userId] } };
  await app.request('PATCH', `/documents/${locked.id}/approvers`, approvers);
  const request = await app.request('POST', '/acknowledgement-requests', {
    as: person.key,
    body: { document_id: locked.id },
  });
  const readers = await app.request('POST', `/acknowledgement-requests/${request.body.id}/readers`, {
    as: person.key,
    body: { readers: [{ external_id: 'E 1', name: 'Reader' }] },
  });
  const guest = { email: 'guest@example.com' };
  const invitation = await app.request('POST', '/members/invitations', { as: person.key, body: guest });
  return {
    doc_id: document.id,
    approval_id: approval.body.id,
    request_id: request.body.id,
    person_id: readers.body[0].id,
    config_id: config.id,
    listener_id: listener.body.id,
    member_id: person.userId,
    key_id: key.id,
    department_id: department.body.id,
    invitation_id: invitation.body.id,
  };
}
