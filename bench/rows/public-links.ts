/** Rows for public links: cached, not cached, and invalid. */
import { createHash, randomBytes } from 'node:crypto';
import { newId } from '#libs/contract';
import { must, type Person, shareDocument } from '#libs/testing';
import type { Row as DbRow } from '../baseline/handler.ts';
import type { BenchFixture } from '../fixture.ts';
import type { BenchRequest } from '../load.ts';
import { pairedRow } from '../paired.ts';
import { httpRow, type Row } from '../row.ts';
import { bigDocument, smallDocument } from './trees.ts';

const page = '?format=html';

/** Publishes a document and creates its public link. */
const createLink = ({ api }: BenchFixture, { key }: Person, tree: object) => shareDocument(api, key, tree);

/** A link that is opened repeatedly. Both sides cache the bytes and read only what access depends on. */
function cachedLink(
  name: string,
  tree: object,
  format: '' | typeof page,
  requests: number,
  connections = 32,
) {
  return httpRow({
    name,
    goal: 1.3,
    remark: `both sides cache the bytes by version; ${connections} connections`,
    requests,
    connections,
    baselineHandler: format === page ? 'embedPage' : 'embed',
    compare: 'text',
    async prepare(fixture) {
      const { path } = await createLink(fixture, fixture.organization, tree);
      return async () => () => ({ method: 'GET', path: path + format });
    },
  });
}

const coldDocuments = 1000;

/** Links to different documents, each in a version that is not cached. */
function uncachedLinks(name: string, format: '' | typeof page) {
  return httpRow({
    name,
    goal: 2,
    remark:
      format === page
        ? 'baseline: a minimal page that shows the words'
        : 'both sides read and render each document',
    requests: coldDocuments,
    baselineHandler: format === page ? 'embedPageCold' : 'embedCold',
    compare: format === page ? 'nothing' : 'text',
    async prepare(fixture, share) {
      const { id } = await createLink(fixture, fixture.organization, smallDocument);
      const ids = await fixture.copyDocument(id, Math.max(1, Math.round(coldDocuments * share)));
      const documents = fixture.db.collection<DbRow>('documents');
      const mine = { _id: { $in: ids } };
      await documents.updateMany(mine, { $set: { status: 'published', published_at: new Date() } });
      const tokens = await insertTokens(fixture, ids);
      return async () => {
        await documents.updateMany(mine, { $inc: { row_version: 1 } });
        return (i) => ({
          method: 'GET',
          path: `/embed/${fixture.organization.slug}/${tokens[i % tokens.length]}${format}`,
        });
      };
    },
  });
}

/** Inserts share tokens directly into MongoDB. Returns them in the order of their document families. */
export async function insertTokens(
  { db }: Pick<BenchFixture, 'db'>,
  families: readonly string[],
): Promise<string[]> {
  const document = await db.collection<DbRow>('documents').findOne({ _id: families[0] ?? '' });
  const tokens = families.map(() => randomBytes(32).toString('base64url'));
  await db.collection<DbRow>('share_tokens').insertMany(
    families.map((family_id, at) => ({
      _id: newId(),
      organization_id: document?.organization_id,
      family_id,
      hash: createHash('sha256')
        .update(tokens[at] ?? '')
        .digest('base64url'),
      sealed: '',
      share_epoch: document?.share_epoch,
      created_at: new Date(),
    })),
  );
  return tokens;
}

type LinkKind =
  | 'valid'
  | 'unknown token'
  | 'malformed token'
  | 'wrong slug'
  | 'unknown slug'
  | 'deleted'
  | 'archived';

/** Creates a valid link and one invalid link for each cause. */
async function createPaths(fixture: BenchFixture): Promise<Record<LinkKind, string>> {
  const { organization, db } = fixture;
  const other = await fixture.register();
  const [valid, deleted, archived] = [
    await createLink(fixture, organization, smallDocument),
    await createLink(fixture, organization, smallDocument),
    await createLink(fixture, organization, smallDocument),
  ];
  await db.collection<DbRow>('share_tokens').deleteOne({ family_id: deleted.id });
  const change = { $set: { status: 'archived' }, $inc: { share_epoch: 1, row_version: 1 } };
  await db.collection<DbRow>('documents').updateOne({ _id: archived.id }, change);
  return {
    valid: valid.path,
    'unknown token': `/embed/${organization.slug}/${randomBytes(32).toString('base64url')}`,
    'malformed token': `/embed/${organization.slug}/nonsense`,
    'wrong slug': `/embed/${other.slug}/${valid.token}`,
    'unknown slug': `/embed/nobody-has-this/${valid.token}`,
    deleted: deleted.path,
    archived: archived.path,
  };
}

/** A paired row of two kinds of links. */
function pairedLinks(
  name: string,
  goal: number,
  kind: LinkKind,
  otherKind: LinkKind,
  format: '' | typeof page,
): Row {
  return pairedRow({
    name,
    goal,
    pairedWith: `for a link of the kind “${otherKind}”`,
    async prepare(fixture) {
      const paths = await createPaths(fixture);
      const toRequest = (kind: LinkKind): BenchRequest => ({
        method: 'GET',
        path: paths[kind] + format,
        status: kind === 'valid' ? 200 : 404,
      });
      return [() => () => toRequest(kind), () => () => toRequest(otherKind)];
    },
  });
}

/** A link whose password was checked within the last minute, compared with a link without a password. */
function rememberedPassword(format: '' | typeof page): Row {
  return pairedRow({
    name: `embed${format && ', page'}, remembered password`,
    goal: 1.2,
    pairedWith: 'for a link without a password',
    async prepare(fixture) {
      const password = 'correct horse battery staple';
      const links = [
        await createLink(fixture, fixture.organization, smallDocument),
        await createLink(fixture, fixture.organization, smallDocument),
      ] as const;
      const path = `/documents/${links[0].id}/share-token`;
      await must(fixture.api, 'PATCH', path, { as: fixture.organization.key, body: { password } });
      const toSlice = (link: string, secret?: string) => () => () =>
        ({ method: 'GET', path: link + format, password: secret }) satisfies BenchRequest;
      return [toSlice(links[0].path, password), toSlice(links[1].path)];
    },
  });
}

const causes = ['malformed token', 'wrong slug', 'unknown slug', 'deleted', 'archived'] as const;

/** The rows for public links. */
export const publicLinks: readonly Row[] = [
  cachedLink('embed (10 nodes)', smallDocument, '', 2000),
  cachedLink('embed (200 nodes)', bigDocument, '', 1000, 64),
  cachedLink('embed, page (200 nodes)', bigDocument, page, 1000, 64),
  uncachedLinks('embed, 1,000 documents, cold', ''),
  uncachedLinks('embed, page, 1,000 documents, cold', page),
  pairedLinks('embed, 404 vs. 200', 1, 'unknown token', 'valid', ''),
  pairedLinks('embed, page, 404 vs. 200', 1, 'unknown token', 'valid', page),
  rememberedPassword(''),
  rememberedPassword(page),
  ...causes.map((cause) => pairedLinks(`embed, 404: ${cause}`, 1.1, cause, 'unknown token', '')),
];
