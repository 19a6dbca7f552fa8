/**
 * Runs the security tests (`npm run test:security`). With `--long` it runs the long form instead: many fuzzed requests,
 * many rounds of SIGKILL, and an hour of mixed load for each of two deployments. It takes hours and saves its figures
 * for docs/reliability.md.
 */
import { parseArgs } from 'node:util';
import { run } from 'jest';
// @ts-expect-error: plain JavaScript, because the configuration of Jest imports it
import { measureSlowness } from './jest/machine-speed.js';

const { values } = parseArgs({
  allowPositionals: true,
  strict: false,
  options: {
    long: { type: 'boolean', default: false },
    parts: { type: 'string', default: 'fuzz,kills,load' },
    requests: { type: 'string', default: '50000' },
    rounds: { type: 'string', default: '200' },
    minutes: { type: 'string', default: '60' },
    /** Prints the figures instead of saving them: for a short trial. */
    trial: { type: 'boolean', default: false },
  },
});

if (values.long) await runLong();
else {
  process.env.TEST_LANE = 'security';
  await run(process.argv.slice(2));
}

async function runLong(): Promise<void> {
  // read by the test kit when it is loaded
  process.env.TEST_SLOWNESS ??= measureSlowness().toFixed(2);
  const { partNames, runParts } = await import('../tests/security/long/run-parts.ts');
  const parts = String(values.parts).split(',');
  const unknown = parts.filter((name) => !partNames.includes(name));
  if (unknown.length > 0) {
    process.stderr.write(`Unknown part: ${unknown.join(', ')}. The parts are ${partNames.join(', ')}.\n`);
    process.exitCode = 2;
    return;
  }
  const isBroken = await runParts({
    parts,
    requests: Number(values.requests),
    rounds: Number(values.rounds),
    minutes: Number(values.minutes),
    isTrial: values.trial === true,
  });
  if (isBroken) process.exitCode = 1;
}
