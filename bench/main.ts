/**
 * Compares the service with the baseline: `npm run bench`, `npm run bench -- read` (only rows whose name
 * contains the word), `-- --quick` (fewer and smaller batches), `-- --profile <folder>` (a CPU profile of
 * each side), `-- --against <ref>` (another commit instead of the baseline).
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { ownRabbit, type RabbitBroker } from '#libs/testing';
import { startMongod } from '../tools/mongod/mongod.ts';
import { measureAgainst } from './against.ts';
import { startRun } from './environment.ts';
import { measureFiles } from './files/measure.ts';
import { limits } from './limits.ts';
import { measure } from './measure.ts';
import {
  fileLine,
  growthLine,
  headerLine,
  limitLine,
  renderJson,
  renderMarkdown,
  resultLine,
  systemLine,
} from './report.ts';
import { rows } from './rows.ts';
import { growthRows, measureGrowth } from './system/growth.ts';
import { measureSystems } from './system/measure.ts';
import { fiveProcessRows, type SystemRow, systemRows } from './system/rows.ts';

const { values, positionals } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    profile: { type: 'string' },
    against: { type: 'string' },
  },
  allowPositionals: true,
});
const isChosen = ({ name }: { name: string }) =>
  positionals.length === 0 || positionals.some((word) => name.includes(word));
const isComplete = positionals.length === 0 && !values.quick && values.profile === undefined;
const batches = values.quick ? 2 : 5;
const finishRun = startRun(batches);
const stopping = new AbortController();
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => stopping.abort());

const mongod = await startMongod({ say: (text) => process.stderr.write(`${text}\n`), cacheGB: 1 });
const share = values.quick ? 0.3 : 1;
const { signal } = stopping;
const reportSkipped = (name: string, reason: string) => console.log(`${name}: skipped (${reason})`);
const compareWith = (ref: string) =>
  measureAgainst({
    ...{ mongoUri: mongod.uri, ref, rows: rows.filter(isChosen), batches, share, signal },
    onResult: (result) => console.log(resultLine(result)),
    onSkipped: reportSkipped,
  });
try {
  console.log(headerLine());
  await (values.against === undefined ? measureAll() : compareWith(values.against));
} catch (error) {
  if (!stopping.signal.aborted) throw error;
  process.exitCode = 130;
} finally {
  await mongod.stop();
}

/** Measures all chosen rows against the baseline, and saves the results of a complete run. */
async function measureAll(): Promise<void> {
  const measured = await measure({
    mongoUri: mongod.uri,
    rows: rows.filter(isChosen),
    limits: limits.filter(isChosen),
    batches,
    share,
    signal,
    ...(values.profile && { profile: resolve(values.profile) }),
    onResult: (result) => console.log(resultLine(result)),
    onLimit: (result) => console.log(limitLine(result)),
    onSkipped: reportSkipped,
  });
  if (isChosen({ name: 'Word files of all sizes' }))
    measured.files = await measureFiles({
      ...(values.quick && { sizes: [10, 100] }),
      rounds: values.quick ? 1 : 3,
      signal,
      done: (result) => console.log(fileLine(result)),
    });
  const measureMode = async (modeRows: readonly SystemRow[], rabbit?: RabbitBroker) => {
    const results = await measureSystems({
      mongoUri: mongod.uri,
      rabbit,
      rows: modeRows,
      rounds: batches,
      share,
      signal,
      onResult: (result) => console.log(systemLine(result)),
    });
    measured.systems.push(...results);
  };
  await measureMode(systemRows.filter(isChosen));
  const chosenOfFive = fiveProcessRows.filter(isChosen);
  if (chosenOfFive.length > 0) {
    const rabbit = await ownRabbit().catch((error: Error) =>
      console.log(`five processes: skipped (${error.message})`),
    );
    if (rabbit) await measureMode(chosenOfFive, rabbit).finally(rabbit.stop);
  }
  measured.growth = await measureGrowth({
    mongoUri: mongod.uri,
    rows: growthRows.filter(isChosen),
    rounds: batches,
    share,
    signal,
    onResult: (result) => console.log(growthLine(result)),
  });
  const run = finishRun(measured.mongodb);
  const { service, baseline } = measured.rssMb;
  console.log(`\nResident memory: service ${Math.round(service)} MB, baseline ${Math.round(baseline)} MB.`);
  console.log(`Load average: ${run.loadAverage.before} before, ${run.loadAverage.after} after.`);
  if (isComplete) {
    const results = join(import.meta.dirname, 'results');
    await mkdir(results, { recursive: true });
    await writeFile(join(results, 'latest.json'), renderJson(measured, run));
    await writeFile(join(results, 'latest.md'), renderMarkdown(measured, run));
    console.log('Saved in bench/results/.');
  } else console.log('Not saved, because only complete runs are saved.');
}
