/** What was measured, for people and for machines. */
import type { Facts } from './facts.ts';
import type { Measured, Result } from './measure.ts';
import type { Side } from './stage.ts';
import type { Spread } from './statistics.ts';
import type { TimingResult } from './timing.ts';

const columns = [
  '',
  'CPU ratio',
  'goal',
  'CPU ms, ours',
  'floor',
  'rate, ours',
  'floor',
  'rate ratio',
  'p99 ratio',
];
const widths = [58, 22, 8, 14, 10, 12, 12, 22, 20];

/** The head of the table in a terminal. */
export function headLine(): string {
  return padded(columns);
}

/** One row of the table in a terminal. */
export function line(result: Result): string {
  return padded(cells(result));
}

/** A promise in plain numbers in a terminal. */
export function timingLine(result: TimingResult): string {
  const [name = '', value, goal, median, measured] = timingCells(result);
  return `${name.padEnd(widths[0] ?? 0)}${value}, goal ${goal}; median ${median} of ${measured}`;
}

/** Everything as a page of Markdown. */
export function page({ results, timings, rssMb }: Measured, facts: Facts): string {
  const { machine, versions, load } = facts;
  const table = [columns, columns.map(() => '---'), ...results.map(cells)];
  const heads = ['', 'what counts', 'goal', 'median', 'measured'];
  const plain = [heads, heads.map(() => '---'), ...timings.map(timingCells)];
  const remarks = [...results, ...timings].flatMap(({ name, remark }) =>
    remark ? [`- ${name}: ${remark}.`] : [],
  );
  return `# Results

${facts.date} · commit ${facts.commit} · ${machine.system}, ${machine.cores} cores, ${machine.memoryGb} GB · Node ${versions.node}, MongoDB ${versions.mongodb} ·
load average ${load.before} before, ${load.after} after · ${facts.batches} pairs of batches for each row

Made by \`npm run bench\`; how to read it: [docs/benchmarks.md](../../docs/benchmarks.md). Medians, smallest–largest in brackets; ✓ and ✗ say
whether the median of the CPU ratio meets its goal.

${table.map((row) => `| ${row.join(' | ')} |`).join('\n')}

${plain.map((row) => `| ${row.join(' | ')} |`).join('\n')}

Resident memory after all rows: ours ${Math.round(rssMb.ours)} MB, floor ${Math.round(rssMb.floor)} MB.

${remarks.join('\n')}
`;
}

/** Everything as JSON, in objects by name. */
export function record({ results, timings, rssMb }: Measured, facts: Facts): string {
  const rows = Object.fromEntries(
    results.map(({ name, ...result }) => [name, { ...result, meets: meets(result) ?? null }]),
  );
  const round = (_name: string, value: unknown) =>
    typeof value === 'number' ? Number(value.toPrecision(4)) : value;
  const plain = Object.fromEntries(
    timings.map(({ name, ...result }) => [name, { ...result, meets: result.value <= result.goal }]),
  );
  return `${JSON.stringify({ ...facts, rssMb, rows, timings: plain }, round, 2)}\n`;
}

/** Whether a row meets its goal; nothing for one without. */
export function meets({ goal, cpuRatio }: Pick<Result, 'goal' | 'cpuRatio'>): boolean | undefined {
  return goal === undefined ? undefined : cpuRatio.median <= goal;
}

function cells(result: Result): string[] {
  const { name, goal, ours, floor, cpuRatio, rateRatio, p99Ratio, beside } = result;
  return [
    name,
    beside ? '' : spread(cpuRatio),
    goal === undefined ? '' : `≤ ${goal} ${meets(result) ? '✓' : '✗'}`,
    short(ours.cpuMs.median),
    short(floor.cpuMs.median),
    rate(result, 'ours'),
    rate(result, 'floor'),
    beside ? '' : spread(rateRatio),
    beside || !p99Ratio ? '' : spread(p99Ratio),
  ];
}

function timingCells({ name, unit, goal, counts, value, median, measured }: TimingResult): string[] {
  const meetsGoal = value <= goal ? '✓' : '✗';
  return [
    name,
    `${counts} ${short(value)} ${unit}`,
    `≤ ${goal} ${unit} ${meetsGoal}`,
    `${short(median)} ${unit}`,
    String(measured),
  ];
}

/** How many in a second; a start says how long it takes. */
function rate(result: Result, side: Side): string {
  const { median } = result[side].perSecond;
  return result.unit === 'start' ? `${Math.round(1000 / median)} ms` : `${short(median)} /s`;
}

function spread({ median, min, max }: Spread): string {
  return `${short(median)} (${short(min)}–${short(max)})`;
}

/** Three digits that count. */
function short(value: number): string {
  return value >= 100 ? String(Math.round(value)) : String(Number(value.toPrecision(value < 0.1 ? 2 : 3)));
}

function padded(row: readonly string[]): string {
  const [name = '', ...numbers] = row;
  return [name.padEnd(widths[0] ?? 0), ...numbers.map((cell, at) => cell.padStart(widths[at + 1] ?? 0))].join(
    '',
  );
}
