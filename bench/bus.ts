/** Carries events through one bus in a process of its own: told by its parent how many and which way, it answers what they cost. */
import { newId } from '#libs/contract';
import { buses, type } from './buses.ts';
import type { Side } from './fixture.ts';
import { usualConnections } from './load.ts';
import type { Sample } from './row.ts';

/** What the parent asks for: so many events through the bus or through its floor. */
export interface BusOrder {
  side: Side;
  count: number;
}

const bus = buses[process.argv[2] ?? ''];
if (!bus) throw new Error(`There is no bus ${process.argv[2]}`);

let handled = 0;
let expected = 0;
let allHandled = () => {};
const handle = async () => {
  handled += 1;
  if (handled === expected) allHandled();
};
const url = process.argv[3] ?? '';
const carriers = { ours: await bus.ours(handle, url), floor: await bus.floor(handle, url) };

process.on('message', async (order: BusOrder) => process.send?.(await carried(order)));
process.on('disconnect', async () => {
  await Promise.allSettled(Object.values(carriers).map((carrier) => carrier.close()));
  process.exit(0);
});
process.send?.('ready');

/** From the first publish until the last event is handled and every publish has resolved. */
async function carried({ side, count }: BusOrder): Promise<Sample> {
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
      await carriers[side].publish(sample());
    }
  };
  await Promise.all([all, ...Array.from({ length: usualConnections }, publisher)]);
  const { user, system } = process.cpuUsage(cpuBefore);
  return { count, wallMs: performance.now() - startedAt, cpuMs: (user + system) / 1000 };
}

function sample() {
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
