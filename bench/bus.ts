/**
 * Child process that sends events through one bus. Its parent sends batches, it replies with what they cost.
 */
import { newId } from '#libs/contract';
import { buses, type } from './buses.ts';
import type { Side } from './fixture.ts';
import { defaultConnections } from './load.ts';
import type { Sample } from './row.ts';

/** A batch: `count` events through the bus or through its baseline. */
export interface BusBatch {
  side: Side;
  count: number;
}

const bus = buses[process.argv[2] ?? ''];
if (!bus) throw new Error(`Unknown bus: ${process.argv[2]}`);

let handled = 0;
let expected = 0;
let allHandled = () => {};
const handle = async () => {
  handled += 1;
  if (handled === expected) allHandled();
};
const url = process.argv[3] ?? '';
const transports = { service: await bus.service(handle, url), baseline: await bus.baseline(handle, url) };

process.on('message', async (batch: BusBatch) => process.send?.(await measureBatch(batch)));
process.on('disconnect', async () => {
  await Promise.allSettled(Object.values(transports).map((carrier) => carrier.close()));
  process.exit(0);
});
process.send?.('ready');

/** Measures from the first publish until the last event is handled and every publish has resolved. */
async function measureBatch({ side, count }: BusBatch): Promise<Sample> {
  handled = 0;
  expected = count;
  const all = new Promise<void>((resolve) => {
    allHandled = resolve;
  });
  const cpuBefore = process.cpuUsage();
  const startedAt = performance.now();
  let next = 0;
  const publisher = async () => {
    while (next < count) {
      next += 1;
      await transports[side].publish(createEvent());
    }
  };
  await Promise.all([all, ...Array.from({ length: defaultConnections }, publisher)]);
  const { user, system } = process.cpuUsage(cpuBefore);
  return { count, wallMs: performance.now() - startedAt, cpuMs: (user + system) / 1000 };
}

function createEvent() {
  const id = newId();
  const at = new Date().toISOString();
  const document = {
    id,
    organization_id: id,
    created_by: id,
    editor_id: null,
    parent_doc_id: null,
    title: 'Payment system incident response',
    version: '4.2',
    department: 'Payments Operations',
    status: 'published',
    published_at: at,
    archived_at: null,
    created_at: at,
    updated_at: at,
  };
  return { id, type, occurred_at: at, organization_id: id, actor_id: id, data: { document } };
}
