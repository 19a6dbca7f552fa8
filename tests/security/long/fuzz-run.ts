/** Sends many generated requests in all roles, and then checks all invariants. */
import {
  findBrokenInvariants,
  formatBrokenInvariant,
} from '../../../tools/admin/verify/broken-invariants.ts';
import { invariants } from '../../../tools/admin/verify/invariants.ts';
import { installSchemathesis } from '../../../tools/schemathesis/install.ts';
import { startFuzzTarget } from '../fuzz/fuzz-target.ts';
import { listRuns } from '../fuzz/runs.ts';
import { fuzz } from '../fuzz/schemathesis.ts';
import type { FuzzFigures } from './results.ts';
import { startRun } from './run-info.ts';

/** Random requests of one run for each operation. A run must end before its access token expires. */
const examples = 20;

/** Repeats the fuzz runs with other seeds, from `firstSeed`, until at least `requests` requests were sent. */
export async function runFuzz(
  requests: number,
  firstSeed: number,
  say: (line: string) => void,
): Promise<FuzzFigures> {
  const describeRun = startRun();
  const schemathesis = await installSchemathesis(say);
  const target = await startFuzzTarget();
  const total = { requests: 0, serverErrors: 0, mismatches: 0 };
  try {
    for (let seed = firstSeed; total.requests < requests; seed += 1)
      for (const { role, name, ...run } of listRuns()) {
        const caller = await target.createCaller(role);
        const result = await fuzz(schemathesis, { origin: target.origin, caller, examples, seed, ...run });
        total.requests += result.requests;
        total.serverErrors += result.serverErrors;
        total.mismatches += result.mismatches;
        say(`fuzz: ${total.requests} of ${requests} requests, the last as ${name}`);
        if (result.text) say(result.text);
      }
    const violations = target.getErrors().map((line) => `Log: ${line}`);
    // deliveries to generated URLs are still tried again
    const options = { now: new Date(), graceMs: 3_600_000 };
    for await (const one of findBrokenInvariants(target.db, invariants, options))
      violations.push(formatBrokenInvariant(one));
    return { ...describeRun(), ...total, violations };
  } finally {
    await target.stop();
  }
}
