/** Generates docs/reliability.md from the saved figures of the long security and reliability runs. */
import type { FuzzFigures, KillFigures, LoadFigures, Results } from '../tests/security/long/results.ts';
import { renderPage, renderTable } from './page.ts';

/** How much a complete long run measures: the defaults of the options. */
const complete = { requests: 50_000, rounds: 200, minutes: 60 };

const introduction = `This page shows figures of runs that take hours, so they are not part of the build:

\`\`\`
npm run test:security -- --long
\`\`\`

The figures of a part add up, so that you can make it in several shorter runs: \`--parts fuzz,kills,load\` selects parts
(\`kills-one\`, \`kills-node\` and \`kills-deno\` are the deployments of \`kills\`, \`load-one\` and \`load-node\` those of
\`load\`), and \`--requests\`, \`--rounds\` and \`--minutes\` change their size. \`--trial\` prints the figures without
saving them. Delete \`tests/security/long/results.json\` to start again. Each run ends with the checks of
[\`npm run verify\`](invariants.md) without a grace period. The shorter tests of the same kind are part of every build:
[threat model](threat-model.md), [fault tolerance](fault-tolerance.md).`;

const notMeasured = 'Not measured yet: this part of the long run has not been made.';

/** The content of docs/reliability.md. */
export function reliabilityPage({ fuzz, kills, load }: Results): string {
  const killed = Object.entries(kills);
  return renderPage(
    'Reliability',
    [
      introduction,
      '## Fuzzed requests',
      fuzz.length > 0 ? renderFuzz(fuzz) : notMeasured,
      '## Killed processes',
      killed.length > 0 ? killed.map(([way, runs]) => renderKills(way, runs)).join('\n\n') : notMeasured,
      '## An hour of mixed load',
      renderLoad(load),
    ],
    '`tests/security/long/results.json`',
  );
}

function renderFuzz(runs: readonly FuzzFigures[]): string {
  const requests = sum(runs, (run) => run.requests);
  const head = [
    'run',
    'requests',
    'responses of 500 or more',
    'responses that contradict the reference',
    broken,
  ];
  const rows = runs.map((run) => [
    describeRun(run),
    ...[run.requests, run.serverErrors, run.mismatches, run.violations.length].map(format),
  ]);
  return `Schemathesis sends requests to every operation of the reference, as an admin, as a member and without a credential.
${compare(requests, complete.requests, 'requests')}

${renderTable(head, rows)}`;
}

function renderKills(way: string, runs: readonly KillFigures[]): string {
  const rounds = sum(runs, (run) => run.rounds);
  const killed = sum(runs, ({ kills }) => sum(Object.values(kills), (count) => count));
  const processes = Object.keys(runs[0]?.kills ?? {});
  const head = ['run', 'rounds', 'documents', 'changes', 'repeated requests', 'slowest restart', broken];
  const rows = runs.map((run) => [
    describeRun(run),
    ...[run.rounds, run.documents, run.changes, run.retries].map(format),
    `${format(run.slowestRestartMs / 1_000)} s`,
    format(run.violations.length),
  ]);
  return `### ${way[0]?.toUpperCase()}${way.slice(1)}

Each round sends SIGKILL to every process once, while integrations write, publish, share and export documents.
Processes: ${processes.join(', ')}. Kills: ${format(killed)}.
${compare(rounds, complete.rounds, 'rounds')}

${renderTable(head, rows)}`;
}

function renderLoad(runs: readonly LoadFigures[]): string {
  const summaries = (['all in one', 'five under Node'] as const).map((way) => {
    const minutes = runs.filter(({ deployment }) => deployment === way).map((run) => run.minutes);
    return `- ${way}: ${compare(Math.max(0, ...minutes), complete.minutes, 'minutes in one run')}`;
  });
  return `Integrations write, publish, share and export documents, while a reader lists, searches, reads and exports them. The
tables show the medians of the first and of the last third of a run, after a warm-up. The deployment *all in one*
has the memory limits of \`npm start\`.

${summaries.join('\n')}

${runs.map(renderLoadRun).join('\n\n')}`;
}

function renderLoadRun(run: LoadFigures): string {
  const rows = Object.entries(run.processes).map(([name, { first, last, rest }]) => [
    name,
    `${first.memoryMb} → ${last.memoryMb} MB`,
    rest ? `${rest.memoryMb} MB` : '',
    first.descriptors === undefined ? '' : `${first.descriptors} → ${last.descriptors}`,
  ]);
  const head = ['process', 'resident memory', '90 s after the load', 'file descriptors'];
  const reads = run.reads === undefined ? 'none, and memory includes that of workers' : format(run.reads);
  return `${describeRun(run)}, ${run.deployment}:

${renderTable(head, rows)}

- Documents written: ${format(run.documents)}. Requests of the reader: ${reads}.
- Highest number of messages, unpublished events and pending deliveries: ${run.backlog.first} in the first third,
  ${run.backlog.last} in the last.
- Broken invariants at the end: ${run.violations.length}.`;
}

const broken = 'broken invariants at the end';

/** States how much of a complete run was made. */
function compare(measured: number, goal: number, unit: string): string {
  const made = `${format(measured)} of ${format(goal)} ${unit}`;
  return measured >= goal ? `Complete: ${made}.` : `**Not complete**: ${made} so far.`;
}

function describeRun(run: FuzzFigures | KillFigures | LoadFigures): string {
  const { date, commit, machine, minutes, loadAverage } = run;
  const on = `${machine.cores} cores, ${machine.memoryGb} GB, load average ${loadAverage}`;
  return `${date}, commit ${commit}, ${on}, ${format(minutes)} minutes`;
}

function sum<T>(values: readonly T[], count: (value: T) => number): number {
  return values.reduce((total, value) => total + count(value), 0);
}

function format(value: number): string {
  return value.toLocaleString('en', { maximumFractionDigits: 1 });
}
