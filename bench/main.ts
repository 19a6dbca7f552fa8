/**
 * Measures ours against the floor: `npm run bench`, `npm run bench -- read` (rows whose name has the word),
 * `-- --quick` (fewer and smaller batches), `-- --profile <folder>` (a CPU profile of either side).
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { startMongod } from '#libs/store';
import { facts } from './environment.ts';
import { filesTable } from './files/table.ts';
import { timings } from './limits.ts';
import { measure } from './measure.ts';
import { fileLine, headLine, line, page, record, timingLine } from './report.ts';
import { rows } from './rows.ts';

const { values, positionals } = parseArgs({
  options: { quick: { type: 'boolean', default: false }, profile: { type: 'string' } },
  allowPositionals: true,
});
const isChosen = ({ name }: { name: string }) =>
  positionals.length === 0 || positionals.some((word) => name.includes(word));
const isWhole = positionals.length === 0 && !values.quick && values.profile === undefined;
const batches = values.quick ? 2 : 5;
const factsAfter = facts(batches);
const stopping = new AbortController();
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => stopping.abort());

const mongod = await startMongod({ say: (text) => process.stderr.write(`${text}\n`), cacheGB: 1 });
try {
  console.log(headLine());
  const measured = await measure({
    mongoUri: mongod.uri,
    rows: rows.filter(isChosen),
    timings: timings.filter(isChosen),
    batches,
    share: values.quick ? 0.3 : 1,
    signal: stopping.signal,
    ...(values.profile && { profile: resolve(values.profile) }),
    done: (result) => console.log(line(result)),
    told: (result) => console.log(timingLine(result)),
    leftOut: (name, reason) => console.log(`${name}: left out (${reason})`),
  });
  if (isChosen({ name: 'Word files of all sizes' }))
    measured.files = await filesTable({
      ...(values.quick && { sizes: [10, 100] }),
      turns: values.quick ? 1 : 3,
      signal: stopping.signal,
      done: (result) => console.log(fileLine(result)),
    });
  const after = factsAfter(measured.mongodb);
  const { ours, floor } = measured.rssMb;
  console.log(`\nResident memory: ours ${Math.round(ours)} MB, floor ${Math.round(floor)} MB.`);
  console.log(`Load average: ${after.load.before} before, ${after.load.after} after.`);
  if (isWhole) {
    const results = join(import.meta.dirname, 'results');
    await mkdir(results, { recursive: true });
    await writeFile(join(results, 'latest.json'), record(measured, after));
    await writeFile(join(results, 'latest.md'), page(measured, after));
    console.log('Kept in bench/results/.');
  } else console.log('Not kept: only a whole run is.');
} catch (error) {
  if (!stopping.signal.aborted) throw error;
  process.exitCode = 130;
} finally {
  await mongod.stop();
}
