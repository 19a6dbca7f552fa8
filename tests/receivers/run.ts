/** Runs the sample for Node and Deno: reads cases as JSON from standard input, writes results to standard output. */
import { text } from 'node:stream/consumers';
import { isGenuine, isSigned } from '../../docs/webhooks/verify.ts';
import type { Case } from './cases.ts';

// the test that starts this program sends cases
const cases = JSON.parse(await text(process.stdin)) as Case[];
const results = cases.map(({ secret, body, id, timestamp, standard, ours, now }) => {
  const bytes = new TextEncoder().encode(body);
  return [
    isSigned(secret, ours, bytes),
    isGenuine(secret, { id, timestamp, signature: standard }, bytes, now),
  ];
});
process.stdout.write(JSON.stringify(results));
