/** Rows for events: published, transported and handled, through each event bus. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { BusBatch } from '../bus.ts';
import { buses } from '../buses.ts';
import type { Side } from '../fixture.ts';
import type { Row, Sample } from '../row.ts';

/** One row per bus. */
export const events: readonly Row[] = Object.entries(buses).map(([bus, { batchSize: usual, broker }]) => ({
  name: `events through the ${bus} bus`,
  unit: 'event',
  remark: 'from publish to handled, 32 at once; CPU time of the client only',
  async prepare(_stage, share) {
    const count = Math.max(1, Math.round(usual * share));
    const server = await broker?.().catch((error: unknown) => String(error));
    if (typeof server === 'string') return server;
    const child = fork(join(import.meta.dirname, '..', 'bus.ts'), [bus, server?.url ?? ''], {
      execArgv: ['--disable-warning=ExperimentalWarning'],
    });
    const gone = once(child, 'exit').then(() => {
      throw new Error(`The process of the ${bus} bus exited`);
    });
    gone.catch(() => undefined);
    const end = async () => {
      if (child.connected) child.disconnect();
      await gone.catch(() => undefined);
      await server?.stop();
    };
    await Promise.race([once(child, 'message'), gone]).catch(async (error: unknown) => {
      await end();
      throw error;
    });
    return {
      async batch(side: Side) {
        const order: BusBatch = { side, count };
        child.send(order);
        // the child answers every batch with a sample
        const [sample] = (await Promise.race([once(child, 'message'), gone])) as [Sample];
        return sample;
      },
      end,
    };
  },
}));
