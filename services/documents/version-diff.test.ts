/** Tests properties of the comparison of versions, for generated trees with moves, and its time slices. */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { countTurns, withTickClock } from '#libs/testing';
import { computeContentHash } from './content-hash.ts';
import { Diff, type DiffNode } from './contract.ts';
import type { DocumentWithNodes } from './store/document-repository.ts';
import { applyDiff, toTextNodes } from './testing/diff.ts';
import { documentRow, nodeRow } from './testing/rows.ts';
import { versions } from './testing/version-edits.ts';
import { compareDocuments } from './version-diff.ts';

const parameters = { seed: 26, numRuns: 1_000 };

async function compare(from: DocumentWithNodes | undefined, to: DocumentWithNodes): Promise<Diff> {
  return Diff.parse(JSON.parse((await compareDocuments(from, to)).toString()));
}

const reversedChanges = { added: 'removed', removed: 'added', changed: 'changed', unchanged: 'unchanged' };

/** The node in a diff of exchanged versions. The lineage id is that of `to`, which may differ. */
function reverseNode({ from, to, change, text, lineage_id: _, ...node }: DiffNode) {
  return { ...node, from: to, to: from, change: reversedChanges[change], text: toTexts(text, true) };
}

/** The edits as the texts before, after and in both. */
function toTexts(edits: DiffNode['text'], isReversed = false) {
  const names = isReversed
    ? { delete: '+', insert: '-', equal: '=' }
    : { delete: '-', insert: '+', equal: '=' };
  return edits.map(({ op, text }) => `${names[op]}${text}`).sort();
}

const byPlace = (one: { from: unknown; to: unknown }) => JSON.stringify([one.from, one.to]);
const sort = <Node extends { from: unknown; to: unknown }>(nodes: Node[]) =>
  nodes.toSorted((a, b) => (byPlace(a) < byPlace(b) ? -1 : 1));

describe('a diff of generated versions', () => {
  test('applied to one version gives titles, order and texts of the other', () =>
    fc.assert(
      fc.asyncProperty(versions, async ([from, to]) => {
        const diff = await compare(from, to);
        expect(applyDiff(from.nodes, diff)).toEqual(toTextNodes(to.nodes));
        const added = await compare(undefined, to);
        expect(applyDiff([], added)).toEqual(toTextNodes(to.nodes));
        expect(added).toMatchObject({ from: null, same: false, counts: { added: to.nodes.length } });
      }),
      parameters,
    ));

  test('has no nodes for the same version, and for the same words', () =>
    fc.assert(
      fc.asyncProperty(versions, async ([from, to]) => {
        const counts = { added: 0, removed: 0, changed: 0, moved: 0, unchanged: to.nodes.length };
        expect(await compare(to, to)).toMatchObject({ same: true, fields: [], nodes: [], counts });
        const [one, other] = await Promise.all(
          [from, to].map(({ document, nodes }) => computeContentHash(document, nodes)),
        );
        expect((await compare(from, to)).same).toBe(one === other);
      }),
      parameters,
    ));

  test('mirrors the diff of the exchanged versions', () =>
    fc.assert(
      fc.asyncProperty(versions, async ([from, to]) => {
        const [diff, mirrored] = [await compare(from, to), await compare(to, from)];
        const { added, removed, ...counts } = diff.counts;
        expect(mirrored.counts).toEqual({ ...counts, added: removed, removed: added });
        expect(mirrored.from).toEqual(diff.to);
        const nodes = diff.nodes.map(({ text, lineage_id: _, ...node }) => ({
          ...node,
          text: toTexts(text),
        }));
        expect(sort(mirrored.nodes.map(reverseNode))).toEqual(sort(nodes));
        for (const { text } of mirrored.nodes)
          expect(text.filter(({ op }, at) => op === 'delete' && text[at - 1]?.op === 'insert')).toEqual([]);
      }),
      parameters,
    ));

  test('counts every node of both versions once', () =>
    fc.assert(
      fc.asyncProperty(versions, async ([from, to]) => {
        const { counts, nodes } = await compare(from, to);
        const onlyMoved = nodes.filter(({ change, moved }) => change === 'unchanged' && moved).length;
        const paired = counts.changed + counts.unchanged + onlyMoved;
        expect([paired + counts.added, paired + counts.removed]).toEqual([
          to.nodes.length,
          from.nodes.length,
        ]);
        expect(nodes.filter(({ moved }) => moved)).toHaveLength(counts.moved);
      }),
      parameters,
    ));
});

describe('the diff of a node', () => {
  const toContent = (attrs: object) => JSON.stringify({ type: 'doc', content: [{ type: 'image', attrs }] });
  async function compareContents(before: string | null, after: string | null) {
    const [from, to] = [documentRow(), documentRow()];
    const lineage = nodeRow(from);
    const other = { lineage_id: lineage._id, content: after };
    const { nodes } = await compare(
      { document: from, nodes: [{ ...lineage, content: before }] },
      { document: to, nodes: [nodeRow(to, other)] },
    );
    return nodes.map(({ change, text, format_changed }) => [change, text.length, format_changed]);
  }

  test('ignores the order of names in the stored rich text', async () => {
    const contents = ['{"type":"doc","content":[]}', '{"content":[],"type":"doc"}'] as const;
    expect(await compareContents(...contents)).toEqual([]);
  });

  test('says that the format changed if only a picture differs', async () =>
    expect(await compareContents(toContent({ src: 'a' }), toContent({ src: 'b' }))).toEqual([
      ['changed', 0, true],
    ]));

  test('says that the format changed if empty rich text was added', async () =>
    expect(await compareContents(null, '{"type":"doc"}')).toEqual([['changed', 0, true]]));

  test('has the edits of the text if text and format differ', async () => {
    const text = { type: 'paragraph', content: [{ type: 'text', text: 'a', marks: [{ type: 'bold' }] }] };
    const content = JSON.stringify({ type: 'doc', content: [text] });
    expect(await compareContents(null, content)).toEqual([['changed', 1, false]]);
  });
});

/** Creates a version of 1,000 steps whose texts end with a word. */
function createLargeVersion(word: string): DocumentWithNodes {
  const document = documentRow();
  const toContent = (text: string) =>
    JSON.stringify({ type: 'doc', content: [{ type: 'paragraph', content: [{ type: 'text', text }] }] });
  const nodes = Array.from({ length: 1_000 }, (_, at) =>
    nodeRow(document, { order: at, content: toContent(`Step ${at} ${word}`), lineage_id: `${at}` }),
  );
  return { document, nodes };
}

// for each node: 2 yields to number both nodes, 4 to pair them, 1 or 2 to compare them, 2 to list them, 1 to write them
test.each([
  ['unchanged', 'before', 10],
  ['changed', 'after', 11],
])('the diff of 1,000 %s nodes lets other work run in between', async (change, word, yields) => {
  const [from, to] = [createLargeVersion('before'), createLargeVersion(word)];
  const { result, turns } = await withTickClock(() => countTurns(compareDocuments(from, to)));
  expect(JSON.parse(result.toString()).counts).toMatchObject({ [change]: 1_000, moved: 0 });
  expect(turns).toBeGreaterThanOrEqual(500 * yields);
});
