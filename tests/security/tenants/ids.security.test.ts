/**
 * Tests that an id of another organization gets the same response, byte by byte, as an id that does not exist. The
 * cases are generated from the contracts: every operation, and every id in a path, a query or a body.
 */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { hasEtag, isConditional, newId } from '#libs/contract';
import { type TestApp, type TestResponse, testApp } from '#libs/testing';
import { acceptsIdempotencyKey } from '../../../libs/contract/protocol.ts';
import { contracts } from '../../../services/contracts.ts';
import { services } from '../../../services/testing/services.ts';
import type { Credential } from '../../permissions/people.ts';
import { fillPath, type Sample, samples } from '../../permissions/samples.ts';
import { toComparable } from './comparison.ts';
import { operations, type Position, positions } from './positions.ts';
import { createTenant, type Tenant } from './tenant.ts';

let app: TestApp;
/** The organization that owns the resources, and the one that asks for them. */
let owner: Tenant;
let caller: Tenant;

beforeAll(async () => {
  app = await testApp({ services, contracts });
  [owner, caller] = await Promise.all([createTenant(app), createTenant(app)]);
});
afterAll(() => app?.stop());

const cases = positions.map((position) => [toName(position), position] as const);

test('the generated cases contain every kind of position', () => {
  const places = positions.map(({ place, path }) => `${place} ${path.join('/')}`);
  expect(places).toEqual(
    expect.arrayContaining(['path doc_id', 'path node_id', 'query editor_id', 'query template_id']),
  );
  expect(places).toEqual(
    expect.arrayContaining(['body parent_id', 'body nodes/0/node_id', 'body editor_id', 'body config_id']),
  );
  expect(cases.length).toBeGreaterThan(50);
});

describe('an id of another organization is answered like an unknown id', () => {
  test.each(cases)('%s', async (_, position) => {
    // the ids in an array have its name
    const foreign = await owner.getId(position.path.findLast((name) => !/^\d+$/.test(name)) ?? '');
    const unknown = newId();
    const sample = await caller.sample(position.operation.id);
    const send = (id: string) => request(position.operation.id, replaceId(sample, position, id));
    const [forForeign, forUnknown] = [await send(foreign), await send(unknown)];
    expect(toComparable(forForeign, foreign)).toBe(toComparable(forUnknown, unknown));
    expect(getText(forForeign)).not.toContain(owner.people.admin.organizationId);
    if (position.place === 'path') expect(forForeign.status).toBe(404);
  });
});

describe('all ids of another organization at once are answered with 404', () => {
  const withPath = operations.filter(({ id }) => positionsIn(id).length > 0);
  test.each(withPath.map(({ id }) => id))('%s', async (id) => {
    const foreign = await owner.sample(id);
    const names = positionsIn(id).map(({ path }) => path[0] ?? '');
    const unknown = { ...foreign, params: Object.fromEntries(names.map((name) => [name, newId()])) };
    const [forForeign, forUnknown] = [await request(id, foreign), await request(id, unknown)];
    expect(forForeign.status).toBe(404);
    const sent = Object.values(foreign.params ?? {});
    expect(toComparable(forForeign, ...sent)).toBe(
      toComparable(forUnknown, ...Object.values(unknown.params)),
    );
  });
});

describe('the ETag of another organization’s resource reveals nothing', () => {
  const conditional = operations.filter((one) => isConditional(one) || hasEtag(one));
  const hidden = conditional.filter(({ access }) => access.authenticated);
  test.each(hidden.map(({ id }) => id))('%s', async (id) => {
    const sample = await owner.sample(id);
    const operation = operations.find((one) => one.id === id);
    const isRead = operation?.method === 'get';
    const readable = isRead ? id : 'getDocument';
    const { headers } = await request(readable, { ...sample, ...(!isRead && noBody) }, owner.getToken(id));
    const etag = headers.get('etag') ?? '';
    expect(etag).not.toBe('');
    const name = isRead ? 'if-none-match' : 'if-match';
    const send = (value: string) => request(id, sample, undefined, { [name]: value });
    const [forForeign, forUnknown] = [await send(etag), await send('"0-unknown"')];
    expect(forForeign.status).toBe(404);
    expect(toComparable(forForeign)).toBe(toComparable(forUnknown));
  });
});

describe('an Idempotency-Key of another organization is a new key', () => {
  // a new password ends the session that the other requests need; it changes only the caller's own account
  const posts = operations.filter((one) => acceptsIdempotencyKey(one) && one.id !== 'updatePassword');
  test.each(posts.map(({ id }) => id))('%s', async (id) => {
    const key = { 'idempotency-key': newId() };
    const theirs = await request(id, await owner.sample(id), owner.getToken(id), key);
    expect(theirs.status).toBeLessThan(300);
    const as = caller.getToken(id);
    const withTheirs = await request(id, await caller.sample(id), as, key);
    const withNew = await request(id, await caller.sample(id), as, { 'idempotency-key': newId() });
    expect([withTheirs.status, [...withTheirs.headers.keys()]]).toEqual([
      withNew.status,
      [...withNew.headers.keys()],
    ]);
    expect(withTheirs.headers.has('idempotency-replayed')).toBe(false);
    expect(getText(withTheirs)).not.toContain(owner.people.admin.organizationId);
  });
});

const noBody = { body: () => undefined };

/** Bodies in which the id decides, where the sample has another reason to fail. */
const bodies: Readonly<Record<string, object>> = {
  createNode: { node_type: 'step', title: 'Two', order: 2 },
};

/** Sends a request of the sample, by default as the caller's admin. */
async function request(
  id: string,
  sample: Sample,
  as = caller.people.admin.token,
  headers: Record<string, string> = {},
): Promise<TestResponse> {
  const operation = operations.find((one) => one.id === id);
  if (!operation) throw new Error(`There is no operation ${id}`);
  const { password } = caller.people.admin;
  const body = await sample.body?.({ actor: 'admin', name: '', token: as, password });
  return app.request(operation.method.toUpperCase(), fillPath(operation, sample), { as, body, headers });
}

function positionsIn(operationId: string): Position[] {
  return positions.filter(({ operation, place }) => operation.id === operationId && place === 'path');
}

/** The sample with another id in one position. */
function replaceId(sample: Sample, { operation, place, path }: Position, id: string): Sample {
  const [name = ''] = path;
  if (place === 'path') return { ...sample, params: { ...sample.params, [name]: id } };
  if (place === 'query') {
    const query = new URLSearchParams(sample.query);
    query.set(name, id);
    return { ...sample, query: `?${query}` };
  }
  const create = async (as: Credential) => bodies[operation.id] ?? sample.body?.(as);
  return { ...sample, body: async (as) => replaceIn(await create(as), path, id) };
}

/** A copy of a JSON value with another value at a path. */
function replaceIn(value: unknown, [name, ...rest]: readonly string[], to: string): unknown {
  if (name === undefined) return to;
  if (Array.isArray(value)) {
    const at = Number(name);
    return value.map((one, index) => (index === at ? replaceIn(one, rest, to) : one));
  }
  const fields = typeof value === 'object' && value !== null ? { ...value } : {};
  return { ...fields, [name]: replaceIn(Reflect.get(fields, name), rest, to) };
}

function toName({ operation, place, path }: Position): string {
  return `${operation.id}: ${place} ${path.join('/')}`;
}

function getText({ bytes }: TestResponse): string {
  return new TextDecoder().decode(bytes);
}

// every operation has a sample, so a new operation is tested at once
test('every operation has a sample request', () => {
  expect(operations.map(({ id }) => id).filter((id) => !Object.hasOwn(samples, id))).toEqual([]);
});
