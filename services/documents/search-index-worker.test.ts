/** Tests that the worker of the search index does not keep the process from other work. */
import { expect, test } from '@jest/globals';
import { countTurns, withTickClock } from '#libs/testing';
import { searchIndexWorker } from './search-index-worker.ts';
import type { NodeText, SearchIndex } from './store/search-index.ts';
import { documentRow } from './testing/rows.ts';

test('indexing a large document lets other work run in between', async () => {
  const document = { ...documentRow({ node_count: 1_000 }), reindex_at: new Date() };
  const saved = Promise.withResolvers<string[]>();
  const stale = [document];
  const searchIndex: SearchIndex = {
    backfill: async () => undefined,
    isLeasedElsewhere: () => false,
    findStale: async () => stale.splice(0),
    acquireLease: async () => true,
    releaseLease: async () => undefined,
    postpone: async () => undefined,
    async *texts(): AsyncGenerator<NodeText> {
      for (let at = 0; at < document.node_count; at += 1)
        yield { document_id: document._id, title: `Step${at}`, content: null };
    },
    save: async ([indexed]) => saved.resolve([...(indexed?.words ?? [])]),
  };
  const worker = searchIndexWorker({ searchIndex, onError: (_message, error) => saved.reject(error) });
  try {
    const { result, turns } = await withTickClock(() => {
      worker.start();
      return countTurns(saved.promise);
    });
    expect(result).toHaveLength(1_001);
    expect(turns).toBeGreaterThanOrEqual(499);
  } finally {
    await worker.stop();
  }
});
