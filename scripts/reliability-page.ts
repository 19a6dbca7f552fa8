/** Generates docs/reliability.md from the saved figures of the long security and reliability runs. */
import type { FuzzFigures, KillFigures, LoadFigures, Results } from '../tests/security/long/results.ts';
import { renderPage, renderTable } from './page.ts';

const introduction = `This page shows figures of runs that take hours, so they are not part of the build:

\`\`\`
npm run test:security -- --long
\`\`\`

\`--parts fuzz,kills,load\` selects parts, \`--requests\`, \`--rounds\` and \`--minutes\` change their size, and \`--trial\`
prints the figures without saving them. Each part ends with the checks of [\`npm run verify\`](invariants.md) without a
grace period. The shorter tests of the same kind are part of every build: [threat model](threat-model.md),
[fault tolerance](fault-tolerance.md).`;

const notMeasured = 'Not measured yet: this part of the long run has not been made.';

/** The content of docs/reliability.md. */
export function reliabilityPage({ fuzz, kills, load }: Results): string {
  const killed = Object.entries(kills ?? {});
  return renderPage(
    'Reliability',
    [
      introduction,
      '## Fuzzed requests',
      fuzz ? renderFuzz(fuzz) : notMeasured,
      '## Killed processes',
      killed.length > 0
        ? killed.map(([way, figures]) => renderKills(way, figures)).join('\n\n')
        : notMeasured,
      '## An hour of mixed load',
      load ? renderLoad(load) : notMeasured,
    ],
    '`tests/security/long/results.json`',
  );
}

function renderFuzz(figures: FuzzFigures): string {
  const rows = [
    ['requests', format(figures.requests)],
    ['responses with a status of 500 or more', format(figures.serverErrors)],
    ['responses that contradict the reference', format(figures.mismatches)],
    ['broken invariants at the end', format(figures.violations.length)],
  ];
  return `Schemathesis sends requests to every operation of the reference, as an admin, as a member and without a credential.
${describeRun(figures)}

${renderTable(['', 'measured'], rows)}`;
}

function renderKills(way: string, figures: KillFigures): string {
  const rows = [
    ...Object.entries(figures.kills).map(([name, count]) => [`SIGKILL of ${name}`, format(count)]),
    ['accepted changes with an event', format(figures.changes)],
    ['documents that were written, published, shared and exported', format(figures.documents)],
    ['requests that clients repeated', format(figures.retries)],
    ['slowest restart', `${format(figures.slowestRestartMs / 1_000)} s`],
    ['broken invariants at the end', format(figures.violations.length)],
  ];
  return `**${way}.** ${describeRun(figures)}\n\n${renderTable(['', 'measured'], rows)}`;
}

function renderLoad(figures: LoadFigures): string {
  const rows = Object.entries(figures.processes).map(([name, { first, last }]) => [
    name,
    `${first.memoryMb} → ${last.memoryMb} MB`,
    `${first.descriptors} → ${last.descriptors}`,
  ]);
  return `The medians of the first and of the last third of the run, after a warm-up. ${describeRun(figures)}

${renderTable(['process', 'resident memory', 'file descriptors'], rows)}

- Documents written, published, shared and exported: ${format(figures.documents)}.
- Highest number of messages, unpublished events and pending deliveries: ${figures.backlog.first} in the first third,
  ${figures.backlog.last} in the last.
- Broken invariants at the end: ${figures.violations.length}.`;
}

function describeRun({ date, commit, machine, minutes }: FuzzFigures | KillFigures | LoadFigures): string {
  return `Run of ${date}, commit ${commit}, ${machine.cores} cores and ${machine.memoryGb} GB, ${minutes} minutes.`;
}

function format(value: number): string {
  return value.toLocaleString('en', { maximumFractionDigits: 1 });
}
