/** Tests that the rendering of a large page does not keep the process from other work. */
import { expect, test } from '@jest/globals';
import { countTurns, withTickClock } from '#libs/testing';
import { rendererFixture } from './page/renderer-fixture.ts';
import { createRenderer, type RenderDocument } from './rendering.ts';
import { representations } from './representations.ts';

test('rendering a large page lets other work run in between', async () => {
  const { document, rows, assets } = rendererFixture;
  const [section] = rows;
  if (!section) throw new Error('The fixture has a section');
  const sections = Array.from({ length: 1_000 }, (_, order) => ({ ...section, _id: `${order}`, order }));
  const source = {
    document: async () => ({ ...document, created_by: document._id }),
    nodes: async () => sections,
    assetSizes: async () => assets,
  };
  const render = createRenderer(source);
  const toPieces: Parameters<RenderDocument>[1] = (nodes, sizes) =>
    representations.html.render(rendererFixture, nodes, sizes);
  const { result, turns } = await withTickClock(() => countTurns(render(document, toPieces)));
  expect(Buffer.from(result ?? []).toString()).toBe([...toPieces(sections, assets)].join(''));
  expect(turns).toBeGreaterThanOrEqual(499);
});
