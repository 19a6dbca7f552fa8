/** Rows for acknowledgements: the page of a personal link, its form, and lists of people. */
import { must, publishDocument } from '#libs/testing';
import type { BenchFixture } from '../fixture.ts';
import type { BenchRequest } from '../load.ts';
import { pairedRow } from '../paired.ts';
import { httpRow, type Row } from '../row.ts';
import { bigDocument, smallDocument } from './trees.ts';

const page = '?format=html';
const maxAdded = 1_000;

/** Publishes a document that is locked by an approver, and requests acknowledgements of it. */
async function ask({ api, organization }: BenchFixture, tree: object) {
  const { key: as, userId } = organization;
  const { id } = await publishDocument(api, as, tree);
  await must(api, 'PATCH', `/documents/${id}/approvers`, { as, body: { approver_ids: [userId] } });
  const request = await must(api, 'POST', '/acknowledgement-requests', { as, body: { document_id: id } });
  return { id, path: `/acknowledgement-requests/${request.id}` };
}

let added = 0;

/** Adds readers. Returns the paths of their personal links. */
async function addLinks(fixture: BenchFixture, path: string, count: number): Promise<string[]> {
  const as = fixture.organization.key;
  const links: string[] = [];
  while (links.length < count) {
    const readers = Array.from({ length: Math.min(maxAdded, count - links.length) }, () => {
      added += 1;
      return { external_id: `E ${added}`, name: `Reader ${added}` };
    });
    const people: { url: string }[] = await must(fixture.api, 'POST', `${path}/readers`, {
      as,
      body: { readers },
    });
    links.push(...people.map(({ url }) => new URL(url).pathname));
  }
  return links;
}

/** The page of a reader, whose bytes are cached, compared with the page of a public link. */
const readingPage: Row = pairedRow({
  name: 'reading page (200 nodes)',
  goal: 1.3,
  pairedWith: 'for the page of a public link',
  async prepare(fixture) {
    const { id, path } = await ask(fixture, bigDocument);
    const [reading = ''] = await addLinks(fixture, path, 1);
    const as = fixture.organization.key;
    const { org_slug, token } = await must(fixture.api, 'POST', `/documents/${id}/share-token`, { as });
    const toSlice = (link: string) => () => () =>
      ({ method: 'GET', path: link + page }) satisfies BenchRequest;
    return [toSlice(reading), toSlice(`/embed/${org_slug}/${token}`)];
  },
});

/** A page of 100 people of a large request, compared with one of a small request. */
const listPeople: Row = pairedRow({
  name: 'list 100 of 50,000 people',
  goal: 1.2,
  pairedWith: 'for a request with 100 people',
  async prepare(fixture, share) {
    const [large, small] = [await ask(fixture, smallDocument), await ask(fixture, smallDocument)];
    await addLinks(fixture, large.path, Math.max(maxAdded, Math.round(50_000 * share)));
    await addLinks(fixture, small.path, 100);
    const { key } = fixture.organization;
    const toSlice = (path: string) => () => () =>
      ({ method: 'GET', path: `/api/v1${path}/people?status=pending`, key }) satisfies BenchRequest;
    return [toSlice(large.path), toSlice(small.path)];
  },
});

/** Confirms by personal links, each once, including the event for the audit log and webhooks. */
const acknowledgeByLink: Row = httpRow({
  name: 'acknowledge by a personal link',
  goal: 2,
  remark: 'baseline: the same rows in one transaction; including its event',
  requests: 400,
  baselineHandler: 'acknowledge',
  compare: 'nothing',
  async prepare(fixture) {
    const { id, path } = await ask(fixture, smallDocument);
    const { content_hash } = await must(fixture.api, 'GET', `/documents/${id}`, {
      as: fixture.organization.key,
    });
    return async (_side, count) => {
      const links = await addLinks(fixture, path, count);
      return (i) => ({ method: 'POST', path: links[i] ?? '', form: { content_hash }, status: 303 });
    };
  },
  async isSettled({ db }, side) {
    const outbox = db.collection(side === 'service' ? 'sharing_outbox' : 'baseline_outbox');
    return (await outbox.findOne({ pending: true })) === null;
  },
});

/** The rows for acknowledgements. */
export const acknowledgements: readonly Row[] = [readingPage, listPeople, acknowledgeByLink];
