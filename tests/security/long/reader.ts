/** Lists, searches, reads and exports the documents that integrations have written, until it is stopped. */
import { must, type RetryingClient, until } from '#libs/testing';
import type { TestTenant } from '../../chaos/workload/tenant.ts';

/** A running reader. */
export interface Reader {
  countReads(): number;
  /** Resolves when the reader has stopped. Rejects as soon as a read fails for good. */
  ended: Promise<void>;
  /** Lets the reader finish its current document. Rejects if a read failed. */
  stop(): Promise<void>;
}

/** Only documents of this many latest organizations are read. */
const recentTenants = 50;

/** Starts to read documents of organizations that integrations add to `tenants`. */
export function startReader(api: RetryingClient, tenants: readonly TestTenant[]): Reader {
  let reads = 0;
  let isOver = false;
  const readOne = async () => {
    const recent = tenants.slice(-recentTenants).filter(({ documents }) => documents.length > 0);
    const { key, documents } = pickOne(recent);
    const { id } = pickOne(documents);
    const paths = [
      '/documents?limit=50',
      '/documents?q=till',
      `/documents/${id}`,
      `/documents/${id}/export/word?template_id=default`,
    ];
    for (const path of paths) await must(api, 'GET', path, { as: key, status: 200 });
    reads += paths.length;
  };
  const run = async () => {
    await until(
      'a document to read',
      async () => isOver || tenants.some(({ documents }) => documents.length > 0),
    );
    while (!isOver) await readOne();
  };
  const work = run();
  // `ended` and `stop` report a failure
  work.catch(() => undefined);
  return {
    countReads: () => reads,
    ended: work,
    async stop() {
      isOver = true;
      await work;
    },
  };
}

function pickOne<Item>(items: readonly Item[]): Item {
  const item = items[Math.floor(Math.random() * items.length)];
  if (item === undefined) throw new Error('Nothing to pick from');
  return item;
}
