/** Limits for three times the requests that a process can answer: those it accepts, those it rejects, recovery. */
import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import type { BenchFixture } from '../fixture.ts';
import type { Limit } from '../limit.ts';
import { createRepeatingClient, type RepeatingClient } from '../repeating-client.ts';

/** The times of the requests of an open load, which sends at a fixed rate whether it gets responses or not. */
interface Outcome {
  acceptedMs: number[];
  rejectedMs: number[];
  lastSentAt: number;
}

/** The outcomes of the whole scenario, which all limits share. */
interface Scenario {
  unloaded: Outcome;
  overloaded: Outcome;
  recoveryMs: number;
  /** The times from the requests over new connections to their responses. */
  newMs: number[];
}

/** A kind of request. */
interface Load {
  /** What the names of its limits begin with. */
  prefix: string;
  remark: string;
  /** Creates what the requests read. */
  prepare(fixture: BenchFixture): Promise<void>;
  path: string;
}

/** How long the overload lasts, seconds. In a shorter one, the requests of its first moments determine the p99. */
const overloadSeconds = 30;

/** The number of connections, and of the clients that connect at once. */
const maxConnections = 600;

const machine = `${maxConnections} open connections, ${overloadSeconds} seconds; the load generator and MongoDB share the cores`;

/** The limits in the order of the scenarios. */
export const overload: readonly Limit[] = [
  ...createLimits({
    prefix: '',
    remark: `lists of templates, ${machine}`,
    prepare: async () => {},
    path: '/api/v1/templates',
  }),
  ...createLimits({
    prefix: 'lists of 50 documents: ',
    remark: machine,
    prepare: async ({ api, organization, copyDocument }) => {
      const body = { title: 'Cash handling', nodes: [] };
      const created = await api.request('POST', '/documents', { as: organization.key, body });
      await copyDocument(z.object({ id: z.uuid() }).parse(created.body).id, 100);
    },
    path: '/api/v1/documents?limit=50',
  }),
];

function createLimits(load: Load): Limit[] {
  let scenario: Promise<Scenario> | undefined;
  const runOnce = (fixture: BenchFixture, share: number) => {
    scenario ??= run(fixture, share, load);
    return scenario;
  };
  const createLimit = (
    name: string,
    statistic: Limit['statistic'],
    goal: number,
    select: (scenario: Scenario) => number[],
  ): Limit => ({
    ...{ name: load.prefix + name, unit: 'ms', remark: load.remark, statistic, goal },
    measure: async (fixture, share) => select(await runOnce(fixture, share)),
  });
  return [
    createLimit('a request at a third of the capacity', 'p99', 50, ({ unloaded }) => unloaded.acceptedMs),
    {
      ...createLimit(
        'three times the capacity: an accepted request',
        'p99',
        3,
        ({ overloaded }) => overloaded.acceptedMs,
      ),
      isRatio: true,
      measureBaseline: async (fixture, share) => (await runOnce(fixture, share)).unloaded.acceptedMs,
    },
    createLimit(
      'three times the capacity: a rejected request',
      'p99',
      50,
      ({ overloaded }) => overloaded.rejectedMs,
    ),
    createLimit(
      'three times the capacity: until all requests are accepted again',
      'largest',
      5_000,
      ({ recoveryMs }) => [recoveryMs],
    ),
    createLimit(
      `three times the capacity: a request of ${maxConnections} clients that connect at once`,
      'p99',
      1_000,
      ({ newMs }) => newMs,
    ),
  ];
}

async function run(fixture: BenchFixture, share: number, { prepare, path }: Load): Promise<Scenario> {
  await prepare(fixture);
  const { organization, processes } = fixture;
  const { origin } = processes.service;
  const connect = (connections: number) =>
    createRepeatingClient({ origin, path, key: organization.key, connections });
  const client = await connect(maxConnections);
  try {
    // the first requests let V8 compile hot code
    await measureCapacity(client, Math.ceil(3_000 * share));
    const capacity = await measureCapacity(client, Math.ceil(6_000 * share));
    const unloaded = await sendOpenLoad(capacity / 3, 10 * share, client);
    const overloaded = await sendOpenLoad(capacity * 3, overloadSeconds * share, client);
    for (let accepted = 0; accepted < 20; )
      accepted = (await client.send()).status === 200 ? accepted + 1 : 0;
    const recoveryMs = performance.now() - overloaded.lastSentAt;
    const [newMs] = await Promise.all([
      pause(2_000 * share).then(() => measureNew(connect)),
      sendOpenLoad(capacity * 3, 5 * share, client),
    ]);
    return { unloaded, overloaded, recoveryMs, newMs };
  } finally {
    client.close();
  }
}

/** Returns how many requests per second are answered if 32 are sent at the same time. */
async function measureCapacity(client: RepeatingClient, count: number): Promise<number> {
  let sent = 0;
  const startedAt = performance.now();
  const sendNext = async () => {
    while (sent < count) {
      sent += 1;
      const { status } = await client.send();
      if (status !== 200) throw new Error(`Unexpected status ${status}`);
    }
  };
  await Promise.all(Array.from({ length: 32 }, sendNext));
  return count / ((performance.now() - startedAt) / 1000);
}

/** Opens connections at once, sends a request over each, and returns the times until the responses. */
function measureNew(connect: (connections: number) => Promise<RepeatingClient>): Promise<number[]> {
  const measureOne = async () => {
    const startedAt = performance.now();
    const client = await connect(1);
    try {
      const { status } = await client.send();
      if (status !== 200 && status !== 503) throw new Error(`Unexpected status ${status}`);
      return performance.now() - startedAt;
    } finally {
      client.close();
    }
  };
  return Promise.all(Array.from({ length: maxConnections }, measureOne));
}

/** Sends requests at a fixed rate, then waits for all responses. Rejects if one has another status than 200 or 503. */
async function sendOpenLoad(perSecond: number, seconds: number, client: RepeatingClient): Promise<Outcome> {
  const outcome: Outcome = { acceptedMs: [], rejectedMs: [], lastSentAt: 0 };
  const sent: Promise<void>[] = [];
  const startedAt = performance.now();
  for (let elapsed = 0; elapsed < seconds; elapsed = (performance.now() - startedAt) / 1000) {
    while (sent.length < elapsed * perSecond)
      sent.push(
        client.send().then(({ status, ms }) => {
          if (status !== 200 && status !== 503) throw new Error(`Unexpected status ${status}`);
          (status === 503 ? outcome.rejectedMs : outcome.acceptedMs).push(ms);
        }),
      );
    await pause(1);
  }
  outcome.lastSentAt = performance.now();
  await Promise.all(sent);
  return outcome;
}
