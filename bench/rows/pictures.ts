/** Rows for uploaded pictures of public links. */
import { randomBytes } from 'node:crypto';
import { must } from '#libs/testing';
import { encodePng } from '../../tests/fixtures/generators/png.ts';
import { pairedRow } from '../paired.ts';
import type { Row } from '../row.ts';

/** Noise of this size in pixels is a PNG of 100 kB. */
const side = 158;

/** A picture of a link, compared with the document of the same link. Both are in memory. */
export const pictureOfLink: Row = pairedRow({
  name: 'a 100 kB picture by link, unchanged',
  goal: 1.2,
  pairedWith: 'for the document of the link, unchanged',
  async prepare({ api, organization: { key: as } }) {
    const noise = randomBytes(side * side * 4);
    const picture = encodePng(side, side, (x, y) => [...noise.subarray((y * side + x) * 4).subarray(0, 4)]);
    const body = new FormData();
    body.append('file', new Blob([new Uint8Array(picture)]), 'noise.png');
    const { id: assetId, src } = await must(api, 'POST', '/assets', { as, body });
    const content = { type: 'doc', content: [{ type: 'image', attrs: { src } }] };
    const nodes = Array.from({ length: 10 }, (_, at) => ({ node_type: 'section', title: `${at}`, content }));
    const { id } = await must(api, 'POST', '/documents', { as, body: { title: 'Noise', nodes } });
    await must(api, 'POST', `/documents/${id}/publish`, { as });
    const { org_slug, token } = await must(api, 'POST', `/documents/${id}/share-token`, { as });
    const path = `/embed/${org_slug}/${token}`;
    return [
      () => () => ({ method: 'GET', path: `${path}/assets/${assetId}` }),
      () => () => ({ method: 'GET', path }),
    ];
  },
});
