/** Generates docs/fault-tolerance.md from the list of faults. */
import { isChaos } from '../tests/chaos/fault.ts';
import { faults } from '../tests/chaos/list.ts';
import { renderPage, renderTable } from './page.ts';

const introduction = `This page lists faults that can hit webhook delivery and the events between services, and what the system
guarantees under each of them. \`npm run test:chaos\` runs the files with a *, \`npm test\` the others;
\`npm run test:chaos -- F3 F11\` runs all tests of the faults you name.

The faults are real: the tests kill, freeze, disconnect and restart mongod, RabbitMQ and the service processes.

After a fault a checker (\`checker.ts\`) compares four records with each other: the existing events, the requests
that receivers got, the event log in MongoDB and the event log in the API. It reports every violation of the invariants
in the first table. Then the checks of \`npm run verify\` run without a grace period: all
[invariants of the database](invariants.md) hold, and no work is left.`;

/** The content of docs/fault-tolerance.md. */
export function faultTolerancePage(): string {
  const rows = faults.map(({ id, fault, promise, proofs }) => {
    const linked = proofs.map((proof) => {
      const name = proof.file
        .split('/')
        .at(-1)
        ?.replace(/(\.chaos)?\.test\.ts$/, '');
      return `[${name}](../${proof.file})${isChaos(proof) ? ' *' : ''}`;
    });
    return [id, fault, promise, linked.join(', ')];
  });
  const head = ['', 'fault', 'guarantee', 'tests'];
  const parts = [
    introduction,
    renderTable(
      ['', 'invariant'],
      [
        ['I1', 'Every accepted event ends as `delivered` or `failed`.'],
        ['I2', 'Each delivery causes at most three requests.'],
        [
          'I3',
          'A delivery is `delivered` only after a 2xx. After a 2xx, a missing record or another request is allowed only if a process was killed or cut off, or if the answer came after the deadline.',
        ],
        ['I4', 'A repeated request has the same `webhook-id` and the same bytes.'],
        ['I5', 'The event log counts at least as many attempts as receivers got requests.'],
        ['I6', 'No webhook is sent for a change that was rolled back.'],
        ['', 'Both signatures of every request are valid. The API shows the event log as MongoDB stores it.'],
      ],
    ),
    renderTable(head, rows),
  ];
  return renderPage('Fault tolerance', parts, '`tests/chaos/list.ts`');
}
