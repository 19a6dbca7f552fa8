/** Tests what the content hash covers, with the published test vectors and 1,000 generated documents. */
import { readFile } from 'node:fs/promises';
import { beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { countTurns, withTickClock } from '#libs/testing';
import { computeContentHash } from '../../services/documents/content-hash.ts';
import { writeCanonicalContent } from '../../services/documents/rules/canonical-content.ts';
import { hashDocument, type SampleDocument, toRows } from './documents.ts';
import { changes, document, reverseNames } from './generated-documents.ts';
import { readVectors, type Vector } from './vectors.ts';

const parameters = { seed: 26, numRuns: 1_000 };

let vectors: Vector[];
beforeAll(async () => {
  vectors = await readVectors();
});

const write = (sample: SampleDocument) => [...writeCanonicalContent(sample, toRows(sample.nodes))].join('');

describe('the published test vectors', () => {
  test('have the canonical content and the hash of the service', async () => {
    expect(vectors.length).toBeGreaterThan(7);
    for (const { name, document, canonical, content_hash } of vectors)
      expect([name, write(document), await hashDocument(document)]).toEqual([name, canonical, content_hash]);
  });

  test('have canonical content with the values of their documents', () => {
    for (const { document, canonical } of vectors)
      expect(JSON.parse(canonical)).toEqual(JSON.parse(JSON.stringify({ v: 1, ...document })));
  });
});

describe('the content hash', () => {
  test('does not depend on ids, positions and the order of names', async () => {
    await fc.assert(
      fc.asyncProperty(document, async (sample) => {
        const hash = await hashDocument(sample);
        const rows = toRows(sample.nodes).map((row) => ({ ...row, order: row.order * 2.5 - 100 }));
        expect(await computeContentHash(sample, rows.reverse())).toBe(hash);
        expect(await hashDocument(reverseNames(sample) as SampleDocument)).toBe(hash);
      }),
      parameters,
    );
  });

  test('changes with any single change of what a reader sees', async () => {
    const counts = new Map(Object.keys(changes).map((name) => [name, 0]));
    const anyChange = fc.constantFrom(...Object.entries(changes));
    const property = fc.asyncProperty(
      document,
      anyChange,
      fc.nat(),
      async (generated, [name, change], seed) => {
        // generated documents share empty lists, and the change must not change them
        const sample: SampleDocument = JSON.parse(JSON.stringify(generated));
        const hash = await hashDocument(sample);
        if (!change(sample, (count) => seed % count)) return;
        counts.set(name, (counts.get(name) ?? 0) + 1);
        expect([name, await hashDocument(sample)]).not.toEqual([name, hash]);
      },
    );
    await fc.assert(property, parameters);
    for (const [name, count] of counts) expect([name, count > 10]).toEqual([name, true]);
  });

  test('differs between any two documents with different content', async () => {
    const samples = fc.sample(document, parameters);
    const hashes = await Promise.all(samples.map(hashDocument));
    expect(new Set(hashes).size).toBe(new Set(samples.map(write)).size);
    for (const hash of hashes) expect(hash).toMatch(/^sha256:[0-9a-f]{64}$/);
  });
});

test('the hash of a large document lets other work run in between', async () => {
  const text = await readFile(new URL('../fixtures/incident-response-sop.json', import.meta.url), 'utf8');
  const { nodes } = JSON.parse(text);
  const sections = Array.from({ length: 100 }, () => nodes).flat();
  const rows = toRows(sections.map((node) => ({ children: [], content: null, ...node })).map(withChildren));
  const fields = { title: 'T', version: null, department: null };
  const { turns } = await withTickClock(() => countTurns(computeContentHash(fields, rows)));
  expect(turns).toBeGreaterThanOrEqual(rows.length / 2);
});

function withChildren(node: SampleDocument['nodes'][number]): SampleDocument['nodes'][number] {
  return { ...node, content: node.content ?? null, children: (node.children ?? []).map(withChildren) };
}
