/**
 * Tests with the MongoDB profiler that an index serves every query of requests and workers. The organizations
 * have very different sizes. The small ones are queried first, because MongoDB may cache a plan that fits
 * only them.
 */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newId } from '#libs/contract';
import {
  type Person,
  type ProfiledCommand,
  profileCommands,
  publishDocument,
  register,
  type TestApp,
  testApp,
  until,
} from '#libs/testing';
import { contracts } from '../contracts.ts';
import { sharing } from '../sharing/service.ts';
import { identity } from '../testing/services.ts';
import { documents } from './service.ts';
import type { DocumentRow, SearchRow } from './store/collections.ts';
import { documentRow } from './testing/rows.ts';

let app: TestApp;
let big: Person;
const [ann, ben] = [newId(), newId()];
const parent = newId();
const sizes = { big: 2_000, other: 1_000, small: 60, tiny: 3 };
const limit = 20;
const start = Date.UTC(2026, 0, 1);

beforeAll(async () => {
  app = await testApp({ services: [identity, documents, sharing], contracts });
  const persons: Person[] = [];
  for (const size of Object.values(sizes)) {
    const person = await register(app);
    persons.push(person);
    await seed(person.organizationId, size);
  }
  big = persons[0] as Person;
  for (const person of persons.reverse())
    for (const [, query] of lists)
      for (let times = 0; times < 3; times += 1)
        for (const path of [`?limit=${limit}&${query}`, `/counts?${toCountQuery(query)}`])
          await app.request('GET', `/documents${path}`, { as: person.key });
});
afterAll(() => app?.stop());

/**
 * Inserts documents: a third have equal times, half are archived, and one in seven belongs to a rare creator,
 * editor or department.
 */
async function seed(organization_id: string, count: number): Promise<void> {
  const rows = Array.from({ length: count }, (_, at) => {
    const time = new Date(start + (at % 3 === 0 ? 0 : at) * 1000);
    const status = (['draft', 'archived', 'published', 'archived'] as const)[at % 4] ?? 'draft';
    return documentRow({
      organization_id,
      title: `Title ${at % 3 === 0 ? 0 : (at * 7919) % count}`,
      status,
      created_by: at % 7 === 0 ? ann : ben,
      editor_id: at % 7 === 1 ? ann : null,
      department: at % 7 === 2 ? 'Ops' : at % 7 === 3 ? null : `Department ${at % 5}`,
      parent_doc_id: at % 50 === 0 ? parent : null,
      published_at: status === 'draft' ? null : time,
      review_due_at: status === 'published' ? time : null,
      archived_at: status === 'archived' ? time : null,
      created_at: time,
      updated_at: time,
    });
  });
  await app.db.collection<DocumentRow>('documents').insertMany(rows);
  const found = rows.map(({ _id }, at) => ({
    _id,
    organization_id,
    words: ['every', ...(at % 10 === 0 ? ['tenth'] : []), ...(at % 500 === 0 ? ['rare'] : [])],
    row_version: 1,
  }));
  await app.db.collection<SearchRow>('search').insertMany(found);
}

const since = new Date(start + 1_500_000).toISOString();
const states = 'status=draft&status=published&status=archived';

/** Removes the parameters of a list query that counts do not accept: sort and status. */
function toCountQuery(query: string): string {
  const parameters = new URLSearchParams(query);
  for (const name of ['sort', 'status']) parameters.delete(name);
  return parameters.toString();
}

/** The list queries that have a dedicated index. */
const lists: [name: string, query: string, index: string][] = [
  ...['updated_at', 'created_at', 'published_at', 'review_due_at', 'title'].flatMap((key) =>
    [key, `-${key}`].flatMap((sort): [string, string, string][] => {
      const index = `organization_id: 1, status: 1, ${key === 'title' ? 'normalized_title: 1' : `${key}: -1`}, _id`;
      return [
        [`sorted by ${sort}`, `sort=${sort}`, index],
        [`archived, sorted by ${sort}`, `sort=${sort}&status=archived`, index],
        [`all statuses, sorted by ${sort}`, `sort=${sort}&${states}`, index],
      ];
    }),
  ),
  ['by update time', `updated_since=${since}`, 'organization_id: 1, status: 1, updated_at: -1'],
  [
    'by due time of the review',
    `review_due_before=${since}&sort=review_due_at`,
    'organization_id: 1, status: 1, review_due_at: -1',
  ],
  ['by creator', `created_by=${ann}`, 'organization_id: 1, created_by: 1, status: 1, updated_at: -1'],
  ['by editor', `editor_id=${ann}`, 'organization_id: 1, editor_id: 1, status: 1, updated_at: -1'],
  ['by department', 'department=Ops', 'organization_id: 1, department: 1, status: 1, updated_at: -1'],
  [
    'by revised document',
    `parent_doc_id=${parent}`,
    'organization_id: 1, parent_doc_id: 1, status: 1, updated_at: -1',
  ],
  [
    'by department and update time, oldest first',
    `department=Ops&updated_since=${since}&sort=updated_at`,
    'organization_id: 1, department: 1, status: 1, updated_at: -1',
  ],
];

/** Queries of workers contain one of these fields. */
const workerFields = /reindex_at|update_event_due_at|review_notice_at/;

/** Returns the profiled commands of requests on these collections. Fails if one scans a collection. */
async function profileRequests(
  work: () => Promise<unknown>,
  collections: readonly string[] = ['documents'],
): Promise<ProfiledCommand[]> {
  const all = await profileCommands(app.db, work);
  const commands = all.filter(
    ({ collection, command }) =>
      collections.includes(collection) && !workerFields.test(JSON.stringify(command)),
  );
  expect(commands.length).toBeGreaterThan(0);
  expect(commands.filter(({ plan }) => plan.includes('COLLSCAN'))).toEqual([]);
  return commands;
}

describe('list queries', () => {
  test.each(lists)('a list reads only the rows that it returns: %s', async (_name, query, index) => {
    let path: string | undefined = `/documents?limit=${limit}&${query}`;
    let pages = 0;
    while (path) {
      const current: string = path;
      let link = '';
      const queries = await profileRequests(async () => {
        const { status, headers } = await app.request('GET', current, { as: big.key });
        expect(status).toBe(200);
        link = headers.get('link') ?? '';
      });
      // a page that starts among equal keys needs two queries
      expect(queries.length).toBeLessThanOrEqual(2);
      for (const { plan, keysExamined, docsExamined, returned, sorts } of queries) {
        expect(plan).toContain(index);
        expect([path, sorts]).toEqual([path, false]);
        expect(keysExamined).toBeLessThanOrEqual(returned + limit);
        expect(docsExamined).toBe(returned);
      }
      path = /<\/api\/v1([^>]+)>; rel="next"/.exec(link)?.[1];
      pages += 1;
    }
    expect(pages).toBeGreaterThan(1);
  });
});

test.each(lists.filter(([, query]) => !/^sort=/.test(query) || query === 'sort=-updated_at'))(
  'counts read only the index keys that they count: %s',
  async (_name, listed) => {
    const query = toCountQuery(listed);
    let total = 0;
    const queries = await profileRequests(async () => {
      const { body } = await app.request('GET', `/documents/counts?${query}`, { as: big.key });
      total = body.total;
    });
    expect(total).toBeGreaterThan(10);
    expect(queries.reduce((sum, { docsExamined }) => sum + docsExamined, 0)).toBe(0);
    // each of the three counts also reads the key after its last one
    expect(queries.reduce((sum, { keysExamined }) => sum + keysExamined, 0)).toBeLessThanOrEqual(total + 3);
  },
);

describe('search queries', () => {
  test.each([
    ['a frequent word', 'every', 1_000, 1],
    ['a rare word', 'rare', 4, 1],
    ['an unknown word', 'nowhere', 0, 1],
  ])('a search for %s reads index keys only', async (_name, q, matches, operations) => {
    const ask = () => app.request('GET', `/documents?limit=${limit}&${states}&q=${q}`, { as: big.key });
    const queries = await profileRequests(ask, ['search', 'documents']);
    const [words, ...rows] = queries.filter(({ op }) => op !== 'getmore');
    expect(words).toMatchObject({ collection: 'search', docsExamined: 0 });
    expect(words?.keysExamined).toBeLessThanOrEqual(matches + 1);
    expect(rows).toHaveLength(matches === 0 ? 0 : operations);
    for (const { plan, docsExamined } of rows) {
      expect(plan).toBe('IXSCAN { _id: 1 }');
      expect(docsExamined).toBe(matches);
    }
  });

  test.each(['every rare', 'rare every', 'tenth every rare'])(
    'a search for several words starts with the rarest: %s',
    async (q) => {
      const ask = () =>
        app.request('GET', `/documents?${states}&q=${encodeURIComponent(q)}`, { as: big.key });
      const rows = (await profileRequests(ask, ['search'])).filter(({ docsExamined }) => docsExamined > 0);
      expect(rows.map(({ docsExamined }) => docsExamined)).toEqual([4]);
    },
  );
});

test('getDocument reads a document and its nodes by id', async () => {
  const nodes = Array.from({ length: 30 }, (_, at) => ({ node_type: 'section', title: `${at}` }));
  const { body } = await app.request('POST', '/documents', { as: big.key, body: { title: 'T', nodes } });
  const ask = () => app.request('GET', `/documents/${body.id}`, { as: big.key });
  const queries = await profileRequests(ask, ['documents', 'nodes']);
  for (const { collection, keysExamined, docsExamined, returned } of queries) {
    expect([keysExamined, docsExamined]).toEqual([returned, returned]);
    expect(returned).toBe(collection === 'nodes' ? 30 : 1);
  }
});

test('a public link reads one key each of token, organization, document', async () => {
  const published = async (title: string): Promise<string> =>
    (await publishDocument(app, big.key, { title })).id;
  const id = await published('Shared');
  const share = await app.request('POST', `/documents/${id}/share-token`, { as: big.key });
  const openPath = (path: string) => app.request('GET', `/embed/${path}`);
  const open = () => openPath(`${big.slug}/${share.body.token}`);
  const linkRows = ['share_tokens', 'documents', 'published_documents', 'organization_profiles'];
  const opened = () => profileRequests(open, linkRows);
  // while the document is the newest, a list index can find it as fast, and MongoDB may cache that plan
  for (let times = 0; times < 5; times += 1) await open();
  for (let at = 0; at < 30; at += 1) await published(`Newer ${at}`);
  for (const { keysExamined } of await opened()) expect(keysExamined).toBeLessThanOrEqual(3 + limit);
  expect(await opened()).toMatchObject([{ keysExamined: 3, docsExamined: 3 }]);
  // an invalid link sends the same command
  for (const path of [`${big.slug}/${'x'.repeat(43)}`, `unknown/${share.body.token}`])
    expect(await profileRequests(() => openPath(path), linkRows)).toMatchObject([
      { collection: 'share_tokens' },
    ]);
});

test.each(['reindex_at', 'update_event_due_at'])(
  'an idle worker reads no key of its index %s',
  async (field) => {
    const due = { [field]: { $gt: new Date(0) } };
    const rows = app.db.collection<DocumentRow>('documents');
    await until('no row is due', async () => (await rows.countDocuments(due)) === 0);
    const polls = { [`command.sort.${field}`]: 1 };
    const all = await profileCommands(app.db, () =>
      until('two polls', async () => (await app.db.collection('system.profile').countDocuments(polls)) >= 2),
    );
    const find = `"${field}":{"$gt"`;
    const idle = all.filter(
      ({ collection, command }) => collection === 'documents' && JSON.stringify(command).includes(find),
    );
    expect(idle.length).toBeGreaterThanOrEqual(2);
    for (const { plan, keysExamined } of idle)
      expect([plan, keysExamined]).toEqual([`IXSCAN { ${field}: 1 }`, 0]);
  },
);
