/** Sends every operation with every credential and compares the response with the permission table. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type AnyOperation, getCacheControl, newId } from '#libs/contract';
import { httpClient, opsToken, type TestApp, type TestResponse, testApp, until } from '#libs/testing';
import { contracts } from '../../services/contracts.ts';
import { services } from '../../services/testing/services.ts';
import { type PermissionFixture, permissionFixture } from './fixture.ts';
import { type Credential, createPeople, type People } from './people.ts';
import { findChanges, readRows } from './resources.ts';
import { fillPath, operatorSamples, type RowName, type Sample, samples } from './samples.ts';
import { type Actor, actors, getRow, type Outcome, operatorOperations, parseRowName } from './table.ts';

const operations = new Map(contracts.flatMap((one) => one.operations).map((one) => [one.id, one]));
const adminOperations = new Map(
  contracts.flatMap((one) => one.adminOperations ?? []).map((one) => [one.id, one]),
);
// the keys of a literal object are the names that its type has
const names = Object.keys(samples) as RowName[];
const outside: Actor = 'other organization';
const rowsWith = (some: readonly Outcome[], among: readonly Actor[] = actors) =>
  names.filter((name) => among.some((actor) => some.includes(getRow(name).outcomes[actor])));
const isRefusal = (outcome: Outcome) => typeof outcome === 'number';

let app: TestApp;
let people: People;
let fixture: PermissionFixture;
/** One sample request for each row, shared by all callers who must not change its resource. */
let sharedSamples: Map<RowName, Sample>;

beforeAll(async () => {
  app = await testApp({ services, contracts });
  people = await createPeople(app);
  fixture = permissionFixture(app, people);
  const entries = rowsWith([401, 403, 404, 'own']).map(
    async (name) => [name, await samples[name](fixture)] as const,
  );
  sharedSamples = new Map(await Promise.all(entries));
});
afterAll(() => app?.stop());

test('every actor of the permission table has a credential', () => {
  expect(new Set(people.credentials.map(({ actor }) => actor))).toEqual(new Set(actors));
});

// runs before the allowed requests, so that nothing else changes the data meanwhile
describe('denied callers are rejected and nothing changes', () => {
  test.each(rowsWith([400, 401, 403, 404]))('%s', async (name) => {
    const sample = getSample(name);
    const before = await readRows(app.db);
    const { exchanges, expected } = await requestAll(name, isRefusal, () => sample);
    expect(getStatuses(exchanges)).toEqual(expected);
    expect(findChanges(before, await readRows(app.db))).toEqual([]);
    for (const { credential, response } of exchanges) {
      expect(response.headers.get('content-type')).toBe('application/problem+json');
      expect(response.headers.get('www-authenticate')?.split(' ')[0]).toBe(
        response.status === 401 ? 'Bearer' : undefined,
      );
      if (lacksPlan(name, credential)) expect(response.body.code).toBe('scale_plan_required');
    }
  });
});

describe('hidden resources give the same 404 as unknown ids', () => {
  test.each(rowsWith([404]))('%s', async (name) => {
    const isHidden = (outcome: Outcome) => outcome === 404;
    const hidden = await requestAll(name, isHidden, () => getSample(name));
    const unknown = await requestAll(name, isHidden, () => withUnknownIds(getSample(name)));
    expect(hidden.exchanges.length).toBeGreaterThan(0);
    expect(hidden.exchanges.map(toComparable)).toEqual(unknown.exchanges.map(toComparable));
  });
});

describe('callers limited to their own data see and change nothing else', () => {
  const groups: [string, readonly Actor[]][] = [
    ['outside', [outside]],
    ['inside', actors.filter((actor) => actor !== outside)],
  ];
  describe.each(groups)('%s the organization', (where, among) => {
    test.each(rowsWith(['own'], among))('%s', async (name) => {
      const sample = getSample(name);
      const isOwn = (outcome: Outcome, one: Credential) => outcome === 'own' && among.includes(one.actor);
      const before = await readRows(app.db);
      const { exchanges, expected } = await requestAll(name, isOwn, () => sample);
      const after = await readRows(app.db);
      expect(getStatuses(exchanges)).toEqual(expected);
      const others = [sample.shows, where === 'outside' ? people.admin.organizationId : undefined];
      for (const other of others.filter((one) => one !== undefined)) {
        for (const { response } of exchanges) expect(getText(response)).not.toContain(other);
        expect(findChanges(before, after, other)).toEqual([]);
      }
    });
  });
});

describe('allowed callers succeed', () => {
  test.each(rowsWith(['yes']))('%s', async (name) => {
    const isRead = getOperation(name).method === 'get';
    const shared = isRead ? await samples[name](fixture) : undefined;
    const isAllowed = (outcome: Outcome) => outcome === 'yes';
    const { exchanges, expected } = await requestAll(name, isAllowed, () => shared ?? samples[name](fixture));
    expect(getStatuses(exchanges)).toEqual(expected);
    for (const { sample, response } of exchanges) {
      if (response.status !== 204) expect(getText(response)).toContain(sample.shows ?? '');
      expect(response.headers.get('cache-control')).toBe(getCacheControl(getOperation(name)));
    }
    // an organization can have at most 50 webhooks
    await app.db.collection('webhook_configs').deleteMany({});
  });
});

describe('only the operator succeeds, and only on the management port', () => {
  test.each(operatorOperations)('%s', async (name) => {
    const operation = adminOperations.get(name);
    if (!operation) throw new Error(`${name} is not an operation`);
    const sample = await operatorSamples[name](fixture);
    const send = async (origin: string, as: Credential) => {
      const method = operation.method.toUpperCase();
      const request = { as: as.token, body: await sample.body?.(as) };
      return (await httpClient(origin).request(method, fillPath(operation, sample), request)).status;
    };
    for (const credential of people.credentials) {
      const label = getLabel(credential);
      const expected = credential.token === opsToken ? operation.status : 401;
      expect([label, await send(app.management, credential)]).toEqual([label, expected]);
      expect([label, await send(app.origin, credential)]).toEqual([label, 404]);
    }
  });
});

interface Exchange {
  credential: Credential;
  sample: Sample;
  response: TestResponse;
}

/**
 * Sends the operation at the same time with every credential that `belongs` accepts. Operations without authentication
 * are sent once for each actor.
 */
async function requestAll(
  name: RowName,
  belongs: (outcome: Outcome, credential: Credential) => boolean,
  sampleFor: () => Sample | Promise<Sample>,
): Promise<{ exchanges: Exchange[]; expected: Record<string, number> }> {
  const operation = getOperation(name);
  const isFirst = (one: Credential) => people.credentials.find(({ actor }) => actor === one.actor) === one;
  const credentials = people.credentials
    .filter((one) => belongs(getOutcome(name, one), one))
    .filter((one) => operation.access.authenticated || isFirst(one));
  const exchanges = credentials.map(async (credential) => {
    const sample = await sampleFor();
    // a denied request ends no credential
    const ends = sample.ends && !isRefusal(getOutcome(name, credential));
    const caller = { ...credential, ...(ends && (await credential.another?.())) };
    const request = { as: caller.token, body: await sample.body?.(caller) };
    const send = () => app.request(operation.method.toUpperCase(), fillPath(operation, sample), request);
    // a process exports two archives at a time
    const response = await until('a response other than 503', async () => {
      const found = await send();
      return found.status !== 503 && found;
    });
    return { credential, sample, response };
  });
  const expected = credentials.map((one) => {
    const outcome = getOutcome(name, one);
    return [getLabel(one), typeof outcome === 'number' ? outcome : operation.status];
  });
  return { exchanges: await Promise.all(exchanges), expected: Object.fromEntries(expected) };
}

function getOutcome(name: RowName, credential: Credential): Outcome {
  const { outcomes } = getRow(name);
  // an operation for admins is denied to a member of any organization before the resource is looked up
  const isForAdmins = /^admin\b/.test(getOperation(name).access.name) || parseRowName(name).special;
  const lacksRole = isForAdmins && credential.actor === outside && credential.role === 'member';
  return lacksRole || lacksPlan(name, credential) ? 403 : outcomes[credential.actor];
}

function lacksPlan(name: RowName, credential: Credential): boolean {
  return getRow(name).plan === 'scale' && credential.plan === 'trial';
}

function getStatuses(exchanges: readonly Exchange[]): Record<string, number> {
  return Object.fromEntries(
    exchanges.map(({ credential, response }) => [getLabel(credential), response.status]),
  );
}

function getLabel({ actor, name }: Credential): string {
  return `${actor}: ${name}`;
}

function getOperation(name: RowName): AnyOperation {
  const operation = operations.get(parseRowName(name).operation);
  if (!operation) throw new Error(`${name} is not an operation`);
  return operation;
}

function getSample(name: RowName): Sample {
  return sharedSamples.get(name) ?? {};
}

/** The same request with ids that do not exist. */
function withUnknownIds(sample: Sample): Sample {
  const params = Object.keys(sample.params ?? {}).map((name) => [name, newId()]);
  return { ...sample, params: Object.fromEntries(params) };
}

/** Everything in which a client can see a difference between two responses. */
function toComparable({ response: { status, headers, body } }: Exchange) {
  const { 'x-request-id': _, date: __, ...others } = Object.fromEntries(headers);
  return { status, others, body: { ...body, request_id: '' } };
}

function getText({ bytes }: TestResponse): string {
  return new TextDecoder().decode(bytes);
}
