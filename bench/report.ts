/** What was measured, for people and for machines. */
import type { Facts } from './environment.ts';
import { type FileResult, fileGoal } from './files/table.ts';
import type { Side } from './fixture.ts';
import { isMet, type LimitResult } from './limit.ts';
import type { Measured, Result } from './measure.ts';
import type { Spread } from './statistics.ts';

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
export function timingLine(result: LimitResult): string {
  const [name = '', value, goal, floor, median, measured] = timingCells(result);
  const beside = floor ? `; floor ${floor}` : '';
  return `${name.padEnd(widths[0] ?? 0)}${value}, goal ${goal}${beside}; median ${median} of ${measured}`;
}

/** What files took in one way, in a terminal. */
export function fileLine(result: FileResult): string {
  return `${`Word file of ${result.nodes} nodes, ${result.way}`.padEnd(widths[0] ?? 0)}${fileCell(result)}${fileRatios(result)}`;
}

/** Everything as a page of Markdown. */
export function page({ results, timings, rssMb, files }: Measured, facts: Facts): string {
  const { machine, versions, load } = facts;
  const table = [columns, columns.map(() => '---'), ...results.map(cells)];
  const heads = ['', 'what counts', 'goal', 'floor (ratio)', 'median', 'measured'];
  const plain = [heads, heads.map(() => '---'), ...timings.map(timingCells)];
  const remarks = [...results, ...timings].flatMap(({ name, remark }) =>
    remark ? [`- ${name}: ${remark}.`] : [],
  );
  return `# Results

${facts.date} · commit ${facts.commit} · ${machine.system}, ${machine.cores} cores, ${machine.memoryGb} GB · Node ${versions.node}, MongoDB ${versions.mongodb} ·
load average ${load.before} before, ${load.after} after · ${facts.batches} pairs of batches for each row

Made by \`npm run bench\`; how to read it: [docs/benchmarks.md](../../docs/benchmarks.md). Medians, smallest–largest in brackets; ✓ and ✗ say
whether the median of a ratio meets its goal.

${table.map((row) => `| ${row.join(' | ')} |`).join('\n')}

${plain.map((row) => `| ${row.join(' | ')} |`).join('\n')}

${fileRows(files)
  .map((row) => `| ${row.join(' | ')} |`)
  .join('\n')}

Resident memory after all rows: ours ${Math.round(rssMb.ours)} MB, floor ${Math.round(rssMb.floor)} MB.

${remarks.join('\n')}
`;
}

/** Everything as JSON, in objects by name. */
export function record({ results, timings, rssMb, files }: Measured, facts: Facts): string {
  const rows = Object.fromEntries(
    results.map(({ name, ...result }) => [name, { ...result, meets: meets(result) ?? null }]),
  );
  const round = (_name: string, value: unknown) =>
    typeof value === 'number' ? Number(value.toPrecision(4)) : value;
  const plain = Object.fromEntries(
    timings.map(({ name, ...result }) => [name, { ...result, meets: isMet(result) }]),
  );
  return `${JSON.stringify({ ...facts, rssMb, rows, timings: plain, files }, round, 2)}\n`;
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
    beside || !p99Ratio ? '' : spread(p99Ratio) + goalOfP99(result),
  ];
}

function timingCells(result: LimitResult): string[] {
  const { name, unit, goal, atLeast, counts, value, floor, median, measured } = result;
  return [
    name,
    `${counts} ${short(value)} ${unit}`,
    `${atLeast ? '≥' : '≤'} ${goal} ${unit} ${isMet(result) ? '✓' : '✗'}`,
    floor === undefined ? '' : `${short(floor)} ${unit} (${short(value / floor)})`,
    `${short(median)} ${unit}`,
    String(measured),
  ];
}

/** A line for each number of nodes, with a column for each way. */
function fileRows(files: readonly FileResult[]): string[][] {
  const ways = [...new Set(files.map(({ way }) => way))];
  const heads = ['Word file: CPU, most memory, size', ...ways];
  const bySize = Map.groupBy(files, ({ nodes }) => nodes);
  const lines = [...bySize].map(([nodes, results]) => [
    `${nodes} nodes`,
    ...results.map((result) => fileCell(result) + fileRatios(result)),
  ]);
  return files.length === 0 ? [] : [heads, heads.map(() => '---'), ...lines];
}

function fileCell({ cpuMs, peakMb, kb, failed }: FileResult): string {
  return failed ?? `${short(cpuMs.median)} ms · ${short(peakMb.median)} MB · ${short(kb)} kB`;
}

/** Ours is held against the floor. */
function fileRatios({ way, cpuRatio, memoryRatio }: FileResult): string {
  if (way !== 'ours') return '';
  const told = [cpuRatio, memoryRatio].map(
    ({ median }) => `${short(median)} ${median <= fileGoal ? '✓' : '✗'}`,
  );
  return ` (${told.join(' and ')} of the floor, goal ≤ ${fileGoal})`;
}

/** How many in a second; a start says how long it takes. */
function rate(result: Result, side: Side): string {
  const { median } = result[side].perSecond;
  return result.unit === 'start' ? `${Math.round(1000 / median)} ms` : `${short(median)} /s`;
}

function goalOfP99({ p99Goal, p99Ratio }: Result): string {
  if (p99Goal === undefined || !p99Ratio) return '';
  return ` ≤ ${p99Goal} ${p99Ratio.median <= p99Goal ? '✓' : '✗'}`;
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
