/** Runs the sample for Node and Deno: cases as JSON on standard input, verdicts on standard output. */
import { text } from 'node:stream/consumers';
import { isGenuine, isSigned } from '../../docs/webhooks/verify.ts';
import type { Case } from './cases.ts';

// whoever starts this sends cases
const cases = JSON.parse(await text(process.stdin)) as Case[];
const verdicts = cases.map(({ secret, body, id, timestamp, standard, ours, now }) => {
  const bytes = new TextEncoder().encode(body);
  return [
    isSigned(secret, ours, bytes),
    isGenuine(secret, { id, timestamp, signature: standard }, bytes, now),
  ];
});
process.stdout.write(JSON.stringify(verdicts));
