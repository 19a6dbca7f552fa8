/**
 * Fuzzes every operation of the OpenAPI reference as an admin, as a member and without a credential: no response is a
 * 5xx, and none contradicts the reference.
 */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { findTestProgram, slowness } from '#libs/testing';
import {
  findBrokenInvariants,
  formatBrokenInvariant,
} from '../../../tools/admin/verify/broken-invariants.ts';
import { invariants } from '../../../tools/admin/verify/invariants.ts';
import { installSchemathesis, type Schemathesis } from '../../../tools/schemathesis/install.ts';
import { type FuzzTarget, startFuzzTarget } from './fuzz-target.ts';
import { listRuns } from './runs.ts';
import { fuzz } from './schemathesis.ts';

/** One request of each kind for each operation; the long form sends many more. */
const examples = 3;
const seed = 1;
const timeout = 600_000 * slowness;

let target: FuzzTarget;
let schemathesis: Schemathesis | undefined;

beforeAll(async () => {
  schemathesis = await findSchemathesis();
  if (schemathesis) target = await startFuzzTarget();
}, timeout);
afterAll(() => target?.stop());

/** Schemathesis; undefined if it cannot be installed, which only a build forbids. */
async function findSchemathesis(): Promise<Schemathesis | undefined> {
  const purpose = 'every operation with generated requests';
  if (!(await findTestProgram('python3', { purpose, from: 'python3-pip' }))) return undefined;
  const say = (line: string) => void process.stderr.write(`${line}\n`);
  try {
    return await installSchemathesis(say);
  } catch (error) {
    if (process.env.CI) throw error;
    say(`NOT TESTED: ${purpose}: Schemathesis could not be installed: ${(error as Error).message}`);
    return undefined;
  }
}

test.each(listRuns().map((run) => [run.name, run] as const))(
  'requests of %s get no 5xx and no response outside the reference',
  async (_, { role, ...run }) => {
    if (!schemathesis) return;
    const caller = await target.createCaller(role);
    const result = await fuzz(schemathesis, { origin: target.origin, caller, examples, seed, ...run });
    expect(result).toMatchObject({ text: '', serverErrors: 0, mismatches: 0 });
    expect(result.requests).toBeGreaterThan(run.only ? 10 : 1_000);
    // otherwise most of the requests got a 401: an operation that ends the session belongs to its own run
    const { status } = await target.api.request('GET', '/me', { as: caller.token });
    if (!run.only) expect(status).toBe(role === 'anonymous' ? 401 : 200);
  },
  timeout,
);

test('after all requests no error is logged and no invariant is broken', async () => {
  if (!schemathesis) return;
  expect(target.getErrors()).toEqual([]);
  const broken = [];
  const options = { now: new Date(), graceMs: 3_600_000 };
  for await (const one of findBrokenInvariants(target.db, invariants, options))
    broken.push(formatBrokenInvariant(one));
  expect(broken).toEqual([]);
});
