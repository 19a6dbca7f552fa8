/** Tests finding the rows of public links in a real MongoDB: concurrent requests share a query. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newId } from '#libs/contract';
import { profileCommands } from '#libs/testing';
import { documentRow } from '../../documents/testing/rows.ts';
import { type OpenStores, openStores } from '../../testing/open-stores.ts';
import { sharingContract as contract } from '../contract.ts';
import { hashToken } from '../rules/links.ts';
import { shareTokens, sharingCollections } from './collections.ts';
import { findPublicLink } from './public-links.ts';

/** A row of any collection. */
interface Row {
  _id: string;
}

let fixture: OpenStores;
let findLink: ReturnType<typeof findPublicLink>;

beforeAll(async () => {
  fixture = await openStores({ contract, collections: sharingCollections });
  findLink = findPublicLink(fixture.store);
  // as identity and documents have them: without an organization, the second one is of no use
  await fixture.db.collection<Row>('organizations').createIndex({ slug: 1 });
  const family = { organization_id: 1, family_id: 1, status: 1 } as const;
  await fixture.db.collection<Row>('documents').createIndex(family);
});
afterAll(() => fixture?.stop());

/** Stores an organization with a document and its link, and returns the link with the ids of its rows. */
async function createLink(slug: string, status: 'published' | 'archived' = 'published') {
  const { db } = fixture;
  const [organizationId, token] = [newId(), `token of ${slug}`];
  const organization = { _id: organizationId, name: slug, slug, row_version: 1, created_at: new Date() };
  await db.collection<Row>('organizations').insertOne(organization);
  const document = documentRow({ organization_id: organizationId, status, share_epoch: 3 });
  await db.collection<Row>('documents').insertOne(document);
  await fixture.store.rows(shareTokens).create({
    ...{ _id: newId(), organization_id: organizationId, family_id: document.family_id },
    ...{ hash: hashToken(token), sealed: '', share_epoch: 3, created_at: new Date() },
  });
  return { slug, token, organizationId, documentId: document._id };
}

/** What tells the rows of a link apart. */
async function find(slug: string, token: string) {
  const { storedToken, organization, document } = await findLink(slug, hashToken(token));
  return [storedToken?.hash, organization?._id, document?._id];
}

test('links of the same turn share a query, and each gets its own rows', async () => {
  const links = await Promise.all(['red', 'green', 'blue'].map((slug) => createLink(slug)));
  const [red, green] = links;
  if (!red || !green) throw new Error('There are three links');
  const ofLink = ({ token, organizationId, documentId }: typeof red) => [
    hashToken(token),
    organizationId,
    documentId,
  ];
  let found: Awaited<ReturnType<typeof find>>[] = [];
  const commands = await profileCommands(fixture.db, async () => {
    found = await Promise.all([
      ...[...links, red].map(({ slug, token }) => find(slug, token)),
      find('red', 'unknown'),
      find('red', green.token),
      find('nobody', green.token),
    ]);
  });
  expect(found).toEqual([
    ...[...links, red].map(ofLink),
    [undefined, red.organizationId, undefined],
    [hashToken(green.token), red.organizationId, green.documentId],
    [hashToken(green.token), undefined, green.documentId],
  ]);
  expect(commands.map(({ collection }) => collection)).toEqual(['share_tokens']);
});

test('an unknown token costs no read of documents', async () => {
  const { slug, token } = await createLink('busy');
  const rows = Array.from({ length: 50 }, () =>
    documentRow({ organization_id: newId(), status: 'published' }),
  );
  await fixture.db.collection<Row>('documents').insertMany(rows);
  const examined = async (secret: string) => {
    const commands = await profileCommands(fixture.db, () => find(slug, secret));
    return commands.map(({ docsExamined }) => docsExamined);
  };
  // the token, the organization and the document
  expect(await examined(token)).toEqual([3]);
  expect(await examined('unknown')).toEqual([1]);
});

test('the link of an archived document has no document', async () => {
  const { slug, token, organizationId } = await createLink('archived', 'archived');
  expect(await find(slug, token)).toEqual([hashToken(token), organizationId, undefined]);
});

test('a document of another organization is not found', async () => {
  const { slug, token, organizationId, documentId } = await createLink('moved');
  const moved = { $set: { organization_id: newId() } };
  await fixture.db.collection<Row>('documents').updateOne({ _id: documentId }, moved);
  expect(await find(slug, token)).toEqual([hashToken(token), organizationId, undefined]);
});

test('a slug is never read as an expression of MongoDB', async () => {
  await createLink('plain');
  for (const slug of ['$link.slug', '$$ROOT', '$$nobody', '$', '$plain', ''])
    expect(await find(slug, 'unknown')).toEqual([undefined, undefined, undefined]);
});
