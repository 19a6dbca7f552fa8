/** Measures whether requests cost more when the database holds ten times as much. */
import { createDocument } from '#libs/testing';
import { type Spread, toSpread } from '../statistics.ts';
import { type Growth, grow } from './grown-data.ts';
import { getMedianCost, getTotal, measureBatch, type SystemCost, type SystemOptions } from './measure.ts';
import { fill, type SystemRow, systemRows } from './rows.ts';
import { type Systems, startSystems } from './sides.ts';

/** An operation, measured with the usual data and with ten times as much. `ratio` is grown to usual, per round. */
export interface GrowthResult {
  name: string;
  goal: number;
  usual: SystemCost;
  grown: SystemCost;
  ratio: Spread;
}

/** What is added to the 20,000 documents of one organization. */
const growth: Growth = { organizations: 2_000, documents: 180_000, deliveries: 1_000_000 };

const goal = 1.15;

/** The operations. */
export const growthRows: readonly SystemRow[] = systemRows.map((row) => ({
  ...row,
  name: row.name.replace('whole system', 'ten times the data'),
}));

/** Options of a measurement, as for whole systems. */
export interface GrowthOptions
  extends Pick<SystemOptions, 'mongoUri' | 'rows' | 'rounds' | 'share' | 'signal'> {
  onResult(result: GrowthResult): void;
}

/** Starts the service on two databases of one MongoDB, fills them and measures the operations one after the other. */
export async function measureGrowth(options: GrowthOptions): Promise<GrowthResult[]> {
  const { mongoUri, rows, share, onResult } = options;
  if (rows.length === 0) return [];
  const running: Systems[] = [];
  try {
    const usual = await startSystems(mongoUri);
    running.push(usual);
    const grown = await startSystems(mongoUri);
    running.push(grown);
    for (const systems of running) await fill(systems, share);
    await addOthers(grown, share);
    const results: GrowthResult[] = [];
    for (const row of rows) {
      const result = await measureRow(row, { usual, grown }, options);
      results.push(result);
      onResult(result);
    }
    return results;
  } finally {
    for (const { stop } of running) await stop();
  }
}

async function addOthers({ fixture }: Systems, share: number): Promise<void> {
  const { id } = await createDocument(fixture.api, fixture.organization.key, { title: 'One of many' });
  await grow(fixture, id, {
    organizations: Math.round(growth.organizations * share),
    documents: Math.round(growth.documents * share),
    deliveries: Math.round(growth.deliveries * share),
  });
}

async function measureRow(
  { name, requests, prepare }: SystemRow,
  { usual, grown }: { usual: Systems; grown: Systems },
  { rounds, share, signal }: GrowthOptions,
): Promise<GrowthResult> {
  const count = Math.max(1, Math.round(requests * share));
  const createUsual = await prepare(usual, count);
  const createGrown = await prepare(grown, count);
  const costs: { usual: SystemCost; grown: SystemCost }[] = [];
  // the first round warms up
  for (let round = -1; round < rounds; round += 1) {
    signal.throwIfAborted();
    const batches = { usual: await createUsual(round + 1), grown: await createGrown(round + 1) };
    await usual.fixture.db.admin().command({ fsync: 1 });
    const cost = {
      usual: await measureBatch(usual, 'service', batches.usual, count),
      grown: await measureBatch(grown, 'service', batches.grown, count),
    };
    if (round >= 0) costs.push(cost);
  }
  return {
    name,
    goal,
    usual: getMedianCost(costs.map((cost) => cost.usual)),
    grown: getMedianCost(costs.map((cost) => cost.grown)),
    ratio: toSpread(costs.map((cost) => getTotal(cost.grown) / getTotal(cost.usual))),
  };
}
