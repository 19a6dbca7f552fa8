/** Public links: opened often, opened once each, and tried in vain. */
import { createHash, randomBytes } from 'node:crypto';
import { newId } from '#libs/contract';
import type { Row as DbRow } from '../baseline/handler.ts';
import type { BenchFixture, Organization } from '../fixture.ts';
import type { Asked } from '../load.ts';
import { pairedRow } from '../paired.ts';
import { httpRow, type Row } from '../row.ts';
import { bigDocument, smallDocument } from './trees.ts';

const page = '?format=html';

/** A new public link of an organization, with its document. */
async function linkOf({ api }: BenchFixture, home: Organization, tree: object) {
  const { id } = await api(home, 'POST', '/documents', tree);
  await api(home, 'POST', `/documents/${id}/publish`);
  const { token } = await api(home, 'POST', `/documents/${id}/share-token`);
  return { id: String(id), token: String(token), path: `/embed/${home.slug}/${token}` };
}

/** A link that is opened often: both sides keep the bytes and read only the rows that decide. */
function often(name: string, tree: object, form: '' | typeof page, requests: number, connections = 32) {
  return httpRow({
    name,
    goal: 1.3,
    remark: `both keep the bytes by version; ${connections} connections`,
    requests,
    connections,
    floor: form === page ? 'embedPage' : 'embed',
    same: 'text',
    async prepare(stage) {
      const { path } = await linkOf(stage, stage.home, tree);
      return async () => () => ({ method: 'GET', path: path + form });
    },
  });
}

const coldDocuments = 1000;

/** Links to different documents, each in a version that no cache has. */
function cold(name: string, form: '' | typeof page) {
  return httpRow({
    name,
    goal: 2,
    remark: form === page ? 'floor: the least page that shows the words' : 'both read and write it anew',
    requests: coldDocuments,
    floor: form === page ? 'embedPageCold' : 'embedCold',
    same: form === page ? 'nothing' : 'text',
    async prepare(stage, share) {
      const { id } = await linkOf(stage, stage.home, smallDocument);
      const ids = await stage.copies(id, Math.max(1, Math.round(coldDocuments * share)));
      const documents = stage.db.collection<DbRow>('documents');
      const mine = { _id: { $in: ids } };
      await documents.updateMany(mine, { $set: { status: 'published', published_at: new Date() } });
      const tokens = await tokensFor(stage, ids);
      return async () => {
        await documents.updateMany(mine, { $inc: { row_version: 1 } });
        return (i) => ({
          method: 'GET',
          path: `/embed/${stage.home.slug}/${tokens[i % tokens.length]}${form}`,
        });
      };
    },
  });
}

/** Tokens straight into MongoDB; gives them in the order of their documents. */
async function tokensFor({ db }: BenchFixture, families: readonly string[]): Promise<string[]> {
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

type Paths = Record<
  'known' | 'wrong token' | 'no token at all' | 'another slug' | 'no slug' | 'deleted' | 'archived',
  string
>;

/** A link that opens, and one for each reason why another does not. */
async function pathsOf(stage: BenchFixture): Promise<Paths> {
  const { home, db } = stage;
  const other = await stage.register();
  const [known, gone, archived] = [
    await linkOf(stage, home, smallDocument),
    await linkOf(stage, home, smallDocument),
    await linkOf(stage, home, smallDocument),
  ];
  await db.collection<DbRow>('share_tokens').deleteOne({ family_id: gone.id });
  const change = { $set: { status: 'archived' }, $inc: { share_epoch: 1, row_version: 1 } };
  await db.collection<DbRow>('documents').updateOne({ _id: archived.id }, change);
  return {
    known: known.path,
    'wrong token': `/embed/${home.slug}/${randomBytes(32).toString('base64url')}`,
    'no token at all': `/embed/${home.slug}/nonsense`,
    'another slug': `/embed/${other.slug}/${known.token}`,
    'no slug': `/embed/nobody-has-this/${known.token}`,
    deleted: gone.path,
    archived: archived.path,
  };
}

/** A link that does not open, or opens, against another. */
function oursAgainstOurs(
  name: string,
  goal: number,
  one: keyof Paths,
  other: keyof Paths,
  form: '' | typeof page,
): Row {
  return pairedRow({
    name,
    goal,
    against: other,
    async prepare(stage) {
      const paths = await pathsOf(stage);
      const asked = (kind: keyof Paths): Asked => ({
        method: 'GET',
        path: paths[kind] + form,
        status: kind === 'known' ? 200 : 404,
      });
      return [() => () => asked(one), () => () => asked(other)];
    },
  });
}

const causes = ['no token at all', 'another slug', 'no slug', 'deleted', 'archived'] as const;

/** Everything about public links. */
export const embedding: readonly Row[] = [
  often('embed (10 nodes)', smallDocument, '', 2000),
  often('embed (200 nodes)', bigDocument, '', 1000, 64),
  often('embed, page (200 nodes)', bigDocument, page, 1000, 64),
  cold('embed, 1,000 documents, cold', ''),
  cold('embed, page, 1,000 documents, cold', page),
  oursAgainstOurs('embed, 404 against 200', 1, 'wrong token', 'known', ''),
  oursAgainstOurs('embed, page, 404 against 200', 1, 'wrong token', 'known', page),
  ...causes.map((cause) => oursAgainstOurs(`embed, 404: ${cause}`, 1.1, cause, 'wrong token', '')),
];
