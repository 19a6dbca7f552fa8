/** The memory that the download of a large library adds. */
import { createDocument, type Person } from '#libs/testing';
import { startInContainer } from '../container.ts';
import type { Limit } from '../limit.ts';
import { getRssMb } from '../process-usage.ts';
import type { BenchProcess } from '../processes.ts';
import { smallDocument } from './trees.ts';

const documentCount = 10_000;
const path = '/api/v1/exports/library';

/** The samples of one download, after one of ten documents, which loads code. */
export const libraryMemory: Limit = {
  name: 'memory added by a library of 10,000 documents',
  unit: 'MB',
  goal: 100,
  statistic: 'largest',
  remark: 'documents of ten nodes; an export process as in a container of 512 MB, and its workers',
  async measure(fixture, share) {
    const { api, copyDocument, register } = fixture;
    const [small, large] = [await register(), await register()];
    for (const [{ key }, count] of [
      [small, 10],
      [large, documentCount * share],
    ] as const) {
      const { id } = await createDocument(api, key, smallDocument);
      await copyDocument(id, count - 1);
    }
    const program = await startInContainer(fixture, 'services/export/main.ts', path);
    try {
      await download(program, small);
      const before = getRssMb(program.pid);
      const added: number[] = [];
      const sampling = setInterval(() => added.push(getRssMb(program.pid) - before), 50);
      await download(program, large).finally(() => clearInterval(sampling));
      return added;
    } finally {
      await program.stop();
    }
  },
};

/** Downloads the library of an organization, without keeping it. */
async function download({ origin }: BenchProcess, { key }: Person): Promise<void> {
  const response = await fetch(origin + path, { headers: { authorization: `Bearer ${key}` } });
  if (!response.ok || !response.body) throw new Error(`The download failed with ${response.status}`);
  let bytes = 0;
  for await (const part of response.body) bytes += part.length;
  if (bytes === 0) throw new Error('The library is empty');
}
