/** The page of what may break: made from the list of faults. */
import { isOnDemand } from '../tests/faults/fault.ts';
import { faults } from '../tests/faults/list.ts';
import { page, table } from './page.ts';

/** docs/fault-tolerance.md */
export function faultTolerancePage(): string {
  const seconds = (value: number) => (value === 0 ? '–' : value < 1 ? '< 1 s' : `${Math.round(value)} s`);
  const rows = faults.map(({ id, fault, promise, proofs, seconds: took }) => {
    const linked = proofs.map((proof) => {
      const name = proof.file.split('/').at(-1)?.replace('.test.ts', '');
      return `[${name}](../${proof.file})${isOnDemand(proof) ? ' *' : ''}`;
    });
    return [id, fault, promise, linked.join(', '), seconds(took.inTests), seconds(took.onDemand)];
  });
  const head = ['', 'what happens', 'what is promised', 'proven by', 'in `npm test`', 'on demand'];
  const parts = [
    'What may happen to webhook delivery and to the events between services, and what holds all the same. `npm run faults` proves all of it, ' +
      '`npm run faults -- F3 F11` some of it, one file after the other. Files with a * wait for minutes, and `npm test` leaves them out. ' +
      'What breaks is real: mongod, RabbitMQ and the processes of the services, which are killed, frozen, cut off and started again. ' +
      'Times were measured with `npm run faults` on two cores that others kept busy as well; a test that belongs to several faults counts for each.',
    '`tests/faults/checker.ts` settles the accounts at the end of a fault: it holds the events that exist, the requests that receivers saw, ' +
      'and the event log, as it is kept and as the API shows it, against one another.',
    table(
      ['', 'promise'],
      [
        ['I1', 'no accepted event without `delivered` or `failed`'],
        ['I2', 'at most three requests for each delivery'],
        [
          'I3',
          '`delivered` only after a 2xx; a 2xx that is not recorded, or followed by another request, only where a process was killed or cut off, or past the deadline',
        ],
        ['I4', 'what comes again has the same `webhook-id` and the same bytes'],
        ['I5', 'the log counts at least as many attempts as requests were seen'],
        ['I6', 'nothing is sent for a change that was rolled back'],
        ['', 'both signatures of every request are right; the API shows the log as it is kept'],
      ],
    ),
    table(head, rows),
  ];
  return page('Faults', parts, '`tests/faults/list.ts`');
}
