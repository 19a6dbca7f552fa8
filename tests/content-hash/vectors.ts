/** Reads the published test vectors of the content hash. */
import { readFile } from 'node:fs/promises';
import type { SampleDocument } from './documents.ts';

/** A test vector. */
export interface Vector {
  name: string;
  document: SampleDocument;
  canonical: string;
  content_hash: string;
}

/** Reads the test vectors. */
export async function readVectors(): Promise<Vector[]> {
  const file = new URL('../../docs/content-hash-test-vectors.json', import.meta.url);
  return JSON.parse(await readFile(file, 'utf8')).vectors;
}
