/** Generates docs/fault-tolerance.md from the list of faults. */
import { isOnDemand } from '../tests/chaos/fault.ts';
import { faults } from '../tests/chaos/list.ts';
import { renderPage, renderTable } from './page.ts';

const introduction = `This page lists faults that can hit webhook delivery and the events between services, and what the system
guarantees under each of them. \`npm run test:chaos\` tests all faults, \`npm run test:chaos -- F3 F11\` only those
you name; the files run one after the other. Files with a * take minutes, and \`npm test\` skips them.

The faults are real: the tests kill, freeze, disconnect and restart mongod, RabbitMQ and the service processes.
The times were measured with \`npm run test:chaos\` on two cores that other work shared. A test that belongs to
several faults counts for each.

After a fault a checker (\`checker.ts\`) compares four records with each other: the existing events, the requests
that receivers got, the event log in MongoDB and the event log in the API. It reports every violation of these
invariants:`;

/** The content of docs/fault-tolerance.md. */
export function faultTolerancePage(): string {
  const seconds = (value: number) => (value === 0 ? '–' : value < 1 ? '< 1 s' : `${Math.round(value)} s`);
  const rows = faults.map(({ id, fault, promise, proofs, seconds: took }) => {
    const linked = proofs.map((proof) => {
      const name = proof.file.split('/').at(-1)?.replace('.test.ts', '');
      return `[${name}](../${proof.file})${isOnDemand(proof) ? ' *' : ''}`;
    });
    return [id, fault, promise, linked.join(', '), seconds(took.inTests), seconds(took.onDemand)];
  });
  const head = ['', 'fault', 'guarantee', 'tests', 'in `npm test`', 'on demand'];
  const parts = [
    introduction,
    renderTable(
      ['', 'invariant'],
      [
        ['I1', 'Every accepted event ends as `delivered` or `failed`.'],
        ['I2', 'Each delivery causes at most three requests.'],
        [
          'I3',
          'A delivery is `delivered` only after a 2xx. A 2xx may be unrecorded, or followed by another request, only if a process was killed or cut off, or if the answer came after the deadline.',
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
