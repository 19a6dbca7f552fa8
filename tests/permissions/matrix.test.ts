/** Every operation is asked by everyone, and each gets what the table says: the thing, their own, 401, 403 or 404. */
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { type AnyOperation, newId } from '#libs/contract';
import { idempotencyHeader, opsToken, type TestApp, type TestResponse, testApp } from '#libs/testing';
import { contracts } from '../../services/contracts.ts';
import { services } from '../../services/services.ts';
import { type Stage, stage } from './fixture.ts';
import { type Credential, gather, type People } from './people.ts';
import { changes, kept } from './resources.ts';
import { operatedSamples, type Sample, samples } from './samples.ts';
import {
  type Actor,
  actors,
  type Outcome,
  operated,
  type RowName,
  type Rule,
  rowOf,
  table,
} from './table.ts';

const operations = new Map(contracts.flatMap((one) => one.operations).map((one) => [one.id, one]));
const operates = new Map(contracts.flatMap((one) => one.adminOperations ?? []).map((one) => [one.id, one]));
const rules: Record<RowName, Rule> = table;
// the keys of a literal object are the names that its type has
const names = Object.keys(table) as RowName[];
const outside: Actor = 'other organization';
const having = (some: readonly Outcome[], among: readonly Actor[] = actors) =>
  names.filter((name) => among.some((actor) => some.includes(rules[name].outcomes[actor])));
const isRefusal = (outcome: Outcome) => typeof outcome === 'number';

// passwords are costly on purpose: on a busy machine a dozen of them takes its time
jest.setTimeout(60_000);

let here: TestApp;
let people: People;
let things: Stage;
/** One request for each row, about things that stay closed to all who send it. */
let closed: Map<RowName, Sample>;

beforeAll(async () => {
  here = await testApp({ services, contracts });
  people = await gather(here);
  things = stage(here, people);
  const made = having([401, 403, 404, 'own']).map(
    async (name) => [name, await samples[name](things)] as const,
  );
  closed = new Map(await Promise.all(made));
}, 120_000);
afterAll(() => here?.stop());

test('there is somebody in every column', () => {
  expect(new Set(people.credentials.map(({ actor }) => actor))).toEqual(new Set(actors));
});

// before anything is done by those who may, so that nothing else moves meanwhile
describe('whoever may not is refused, and nothing changes', () => {
  test.each(having([401, 403, 404]))('%s', async (name) => {
    const sample = sampleOf(name);
    const before = await kept(here.db);
    const { told, expected } = await askAll(name, isRefusal, () => sample);
    expect(statusesOf(told)).toEqual(expected);
    expect(changes(before, await kept(here.db))).toEqual([]);
    for (const { credential, answer } of told) {
      expect(answer.headers.get('content-type')).toBe('application/problem+json');
      expect(answer.headers.get('www-authenticate')?.split(' ')[0]).toBe(
        answer.status === 401 ? 'Bearer' : undefined,
      );
      if (lacksPlan(name, credential)) expect(answer.body.code).toBe('scale_plan_required');
    }
  });
});

describe('what somebody may not know to exist is the same 404 as nothing at all', () => {
  test.each(having([404]))('%s', async (name) => {
    const isHidden = (outcome: Outcome) => outcome === 404;
    const hidden = await askAll(name, isHidden, () => sampleOf(name));
    const nowhere = await askAll(name, isHidden, () => elsewhere(sampleOf(name)));
    expect(hidden.told.length).toBeGreaterThan(0);
    expect(hidden.told.map(tellable)).toEqual(nowhere.told.map(tellable));
  });
});

describe('whoever acts on their own sees and changes nothing else', () => {
  const groups: [string, readonly Actor[]][] = [
    ['outside', [outside]],
    ['inside', actors.filter((actor) => actor !== outside)],
  ];
  describe.each(groups)('%s the organization', (where, among) => {
    test.each(having(['own'], among))('%s', async (name) => {
      const sample = sampleOf(name);
      const isThere = (outcome: Outcome, one: Credential) => outcome === 'own' && among.includes(one.actor);
      const before = await kept(here.db);
      const { told, expected } = await askAll(name, isThere, () => sample);
      const after = await kept(here.db);
      expect(statusesOf(told)).toEqual(expected);
      const others = [sample.shows, where === 'outside' ? people.admin.organizationId : undefined];
      for (const other of others.filter((one) => one !== undefined)) {
        for (const { answer } of told) expect(textOf(answer)).not.toContain(other);
        expect(changes(before, after, other)).toEqual([]);
      }
    });
  });
});

describe('whoever may gets it', () => {
  test.each(having(['yes']))('%s', async (name) => {
    const isRead = operationOf(name).method === 'get';
    const shared = isRead ? await samples[name](things) : undefined;
    const isAllowed = (outcome: Outcome) => outcome === 'yes';
    const { told, expected } = await askAll(name, isAllowed, () => shared ?? samples[name](things));
    expect(statusesOf(told)).toEqual(expected);
    for (const { sample, answer } of told)
      if (answer.status !== 204) expect(textOf(answer)).toContain(sample.shows ?? '');
    // an organization has at most fifty webhooks
    await here.db.collection('webhook_configs').deleteMany({});
  });
});

describe('the operator alone may, and on the management port alone', () => {
  test.each(operated)('%s', async (name) => {
    const operation = operates.get(name);
    if (!operation) throw new Error(`${name} is no operation`);
    const sample = await operatedSamples[name](things);
    const ask = async (origin: string, as: Credential) => {
      const authorization = as.token === undefined ? {} : { authorization: `Bearer ${as.token}` };
      const keyed = idempotencyHeader(operation.method.toUpperCase(), as.token);
      const headers = { 'content-type': 'application/json', ...authorization, ...keyed };
      const body = JSON.stringify(await sample.body?.(as));
      const method = operation.method.toUpperCase();
      return (await fetch(origin + pathFor(operation, sample), { method, headers, body })).status;
    };
    for (const credential of people.credentials) {
      const who = labelOf(credential);
      const expected = credential.token === opsToken ? operation.status : 401;
      expect([who, await ask(here.management, credential)]).toEqual([who, expected]);
      expect([who, await ask(here.origin, credential)]).toEqual([who, 404]);
    }
  });
});

interface Answered {
  credential: Credential;
  sample: Sample;
  answer: TestResponse;
}

/** Everyone who belongs here by their outcome asks at once; one credential for each actor where none is looked at. */
async function askAll(
  name: RowName,
  belongs: (outcome: Outcome, credential: Credential) => boolean,
  sampleFor: () => Sample | Promise<Sample>,
): Promise<{ told: Answered[]; expected: Record<string, number> }> {
  const operation = operationOf(name);
  const isFirst = (one: Credential) => people.credentials.find(({ actor }) => actor === one.actor) === one;
  const credentials = people.credentials
    .filter((one) => belongs(outcomeFor(name, one), one))
    .filter((one) => operation.access.authenticated || isFirst(one));
  const told = credentials.map(async (credential) => {
    const sample = await sampleFor();
    const asking = { ...credential, ...(sample.ends && (await credential.another?.())) };
    const asked = { as: asking.token, body: await sample.body?.(asking) };
    const answer = await here.request(operation.method.toUpperCase(), pathFor(operation, sample), asked);
    return { credential, sample, answer };
  });
  const expected = credentials.map((one) => {
    const outcome = outcomeFor(name, one);
    return [labelOf(one), typeof outcome === 'number' ? outcome : operation.status];
  });
  return { told: await Promise.all(told), expected: Object.fromEntries(expected) };
}

function outcomeFor(name: RowName, credential: Credential): Outcome {
  const { outcomes } = rules[name];
  // what only admins may is refused to a member of any organization, before anybody looks for the thing
  const lacksRole = credential.actor === outside && credential.role === 'member' && outcomes.owner === 403;
  return lacksRole || lacksPlan(name, credential) ? 403 : outcomes[credential.actor];
}

function lacksPlan(name: RowName, credential: Credential): boolean {
  return rules[name].plan === 'scale' && credential.plan === 'trial';
}

function statusesOf(told: readonly Answered[]): Record<string, number> {
  return Object.fromEntries(told.map(({ credential, answer }) => [labelOf(credential), answer.status]));
}

function labelOf({ actor, name }: Credential): string {
  return `${actor}: ${name}`;
}

function operationOf(name: RowName): AnyOperation {
  const operation = operations.get(rowOf(name).operation);
  if (!operation) throw new Error(`${name} is no operation`);
  return operation;
}

function sampleOf(name: RowName): Sample {
  return closed.get(name) ?? {};
}

function pathFor(operation: AnyOperation, { params = {}, query = '' }: Sample): string {
  const path = operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = params[name];
    if (value === undefined) throw new Error(`${operation.id} needs ${name}`);
    return value;
  });
  return path + query;
}

/** The same request about things that are nowhere. */
function elsewhere(sample: Sample): Sample {
  const params = Object.keys(sample.params ?? {}).map((name) => [name, newId()]);
  return { ...sample, params: Object.fromEntries(params) };
}

/** All that a client can tell two answers apart by. */
function tellable({ answer: { status, headers, body } }: Answered) {
  const { 'x-request-id': _, date: __, ...others } = Object.fromEntries(headers);
  return { status, others, body: { ...body, request_id: '' } };
}

function textOf({ bytes }: TestResponse): string {
  return new TextDecoder().decode(bytes);
}
