/** The memory that the download of a large library adds. */
import { createDocument, type Person } from '#libs/testing';
import type { BenchFixture } from '../fixture.ts';
import type { Limit } from '../limit.ts';
import { getRssMb } from '../process-usage.ts';
import { smallDocument } from './trees.ts';

const documentCount = 10_000;

/** The largest amounts of three downloads, after one of ten documents, which loads code. */
export const libraryMemory: Limit = {
  name: 'memory added by a library of 10,000 documents',
  unit: 'MB',
  goal: 100,
  statistic: 'largest',
  remark: 'documents of ten nodes; the service and its worker processes; three downloads',
  async measure(fixture, share) {
    const { api, copyDocument, processes, register } = fixture;
    const [small, large] = [await register(), await register()];
    for (const [{ key }, count] of [
      [small, 10],
      [large, documentCount * share],
    ] as const) {
      const { id } = await createDocument(api, key, smallDocument);
      await copyDocument(id, count - 1);
    }
    await download(fixture, small);
    const { pid } = processes.service;
    const before = getRssMb(pid);
    const added: number[] = [];
    const sampling = setInterval(() => added.push(getRssMb(pid) - before), 50);
    try {
      for (let round = 0; round < 3; round += 1) await download(fixture, large);
    } finally {
      clearInterval(sampling);
    }
    return added;
  },
};

/** Downloads the library of an organization, without keeping it. */
async function download({ processes }: BenchFixture, { key }: Person): Promise<void> {
  const headers = { authorization: `Bearer ${key}` };
  const response = await fetch(`${processes.service.origin}/api/v1/exports/library`, { headers });
  if (!response.ok || !response.body) throw new Error(`The download failed with ${response.status}`);
  let bytes = 0;
  for await (const part of response.body) bytes += part.length;
  if (bytes === 0) throw new Error('The library is empty');
}
