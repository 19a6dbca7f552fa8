/** Tests lists, their pages and filters, and counts over HTTP with a real MongoDB. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newId } from '#libs/contract';
import { type Person, register, type TestApp, testApp } from '#libs/testing';
import { contracts } from '../contracts.ts';
import { identity } from '../testing/services.ts';
import { DocumentSummary } from './contract.ts';
import { documents } from './service.ts';
import type { ListSort } from './shapes.ts';
import { documentRow } from './testing/rows.ts';

let app: TestApp;
let ada: Person;
const time = (minute: number) => new Date(Date.UTC(2026, 0, 1, 0, minute));

beforeAll(async () => {
  app = await testApp({ services: [identity, documents], contracts });
  ada = await register(app);
});
afterAll(() => app?.stop());

const create = async (body: object, as = ada.key) =>
  (await app.request('POST', '/documents', { as, body })).body as DocumentSummary;
const publish = (id: string, as = ada.key) => app.request('POST', `/documents/${id}/publish`, { as });
const get = (path: string, as = ada.key) => app.request('GET', path, { as });

/** Inserts document rows with these fields into an organization. */
async function insertRows(organization_id: string, rows: readonly object[]) {
  const documents = rows.map((row) => documentRow({ organization_id, ...row }));
  await app.db.collection<{ _id: string }>('documents').insertMany(documents);
  return documents;
}

/** Reads the documents of all pages. `between` runs after each page. */
async function readPages(query: string, as: string, between = async () => {}): Promise<DocumentSummary[]> {
  const found: DocumentSummary[] = [];
  let path: string | undefined = `/documents?${query}`;
  while (path) {
    const { status, body, headers } = await get(path, as);
    expect(status).toBe(200);
    found.push(...body);
    await between();
    path = /<\/api\/v1([^>]+)>; rel="next"/.exec(headers.get('link') ?? '')?.[1];
    expect(path === undefined || body.length > 0).toBe(true);
  }
  return found;
}

test('a listed document that changes is listed as it is now', async () => {
  const { id } = await create({ title: 'Open the shop', nodes: [{ node_type: 'section', title: 'Door' }] });
  const changes = [
    ['PATCH', '', { title: 'Open the shop early', department: 'Stores' }],
    ['POST', '/publish', undefined],
    ['PATCH', '/review', { reviewer_id: ada.userId, every_months: 6 }],
    ['PATCH', '/approvers', { approver_ids: [ada.userId] }],
    ['POST', '/archive', undefined],
  ] as const;
  for (const [method, path, body] of changes) {
    const { status } = await app.request(method, `/documents/${id}${path}`, { as: ada.key, body });
    expect([path, status]).toEqual([path, 200]);
    const { nodes: _nodes, ...summary } = (await get(`/documents/${id}`)).body;
    const { body: listed } = await get('/documents?status=draft&status=published&status=archived');
    expect(listed.find((one: DocumentSummary) => one.id === id)).toEqual(summary);
  }
});

describe('pages', () => {
  let bo: Person;
  let rows: Awaited<ReturnType<typeof insertRows>>;
  beforeAll(async () => {
    bo = await register(app);
    // equal keys and absent keys, so that every page size splits a group of equal keys
    rows = await insertRows(
      bo.organizationId,
      [3, 1, 1, 1, null, null, null, 2, 2, 5, null, 4, 4].map((minute, at) => ({
        title: ['b', 'B', 'á', 'a', 'A', 'ab', 'z', 'Ä', 'b', 'Zoo', 'é', 'e', 'b'][at] ?? '',
        status: minute === null ? 'draft' : 'published',
        published_at: minute === null ? null : time(minute),
        ...(minute !== null && { review_due_at: time(minute % 3) }),
        created_at: time(at % 4),
        updated_at: time(100 - (at % 5)),
      })),
    );
  });

  const keys = {
    title: (row: (typeof rows)[number]) => row.normalized_title ?? '',
    created_at: (row: (typeof rows)[number]) => row.created_at.getTime(),
    updated_at: (row: (typeof rows)[number]) => row.updated_at.getTime(),
    published_at: (row: (typeof rows)[number]) => row.published_at?.getTime() ?? Number.NEGATIVE_INFINITY,
    review_due_at: (row: (typeof rows)[number]) => row.review_due_at?.getTime() ?? Number.NEGATIVE_INFINITY,
  };

  test.each(Object.keys(keys).flatMap((key) => [key, `-${key}`]) as ListSort[])(
    'pages of any size return each document once, sorted by %s',
    async (sort) => {
      const key = keys[sort.replace('-', '') as keyof typeof keys];
      const up = (a: string | number, b: string | number) => (a < b ? -1 : a > b ? 1 : 0);
      const ascending = rows.toSorted((a, b) => up(key(a), key(b)) || up(a._id, b._id));
      const expected = (sort.startsWith('-') ? ascending.reverse() : ascending).map(({ _id }) => _id);
      for (const limit of [1, 2, 3, 4, 5, 12, 13, 100]) {
        const found = await readPages(`sort=${sort}&limit=${limit}`, bo.key);
        expect(found.map(({ id }) => id)).toEqual(expected);
      }
    },
  );

  test('titles are sorted without case and accents', async () => {
    const found = await readPages('sort=title&limit=4', bo.key);
    const titles = found.map(({ title }) => title);
    const letters = titles.map((title) => title.normalize('NFD').charAt(0).toLowerCase());
    expect(letters.join('')).toBe('aaaaabbbbeezz');
    expect(titles.slice(-2)).toEqual(['z', 'Zoo']);
  });

  test('pages return each document once while others are added', async () => {
    const cleo = await register(app);
    const ids: string[] = [];
    for (let at = 0; at < 7; at += 1) ids.unshift((await create({ title: `${at}` }, cleo.key)).id);
    const add = async () => void (await create({ title: '3' }, cleo.key));
    const newest = await readPages('limit=3', cleo.key, add);
    expect(newest.map((document) => DocumentSummary.parse(document).id)).toEqual(ids);
    const byTitle = (await readPages('limit=3&sort=title', cleo.key, add)).map(({ id }) => id);
    expect(new Set(byTitle).size).toBe(byTitle.length);
    expect(ids.every((id) => byTitle.includes(id))).toBe(true);
  });

  test('the next page keeps the filters, and the last page has no link', async () => {
    const { headers } = await get('/documents?limit=2&sort=title&status=published&status=draft', bo.key);
    expect(headers.get('link')).toMatch(
      /^<\/api\/v1\/documents\?limit=2&sort=title&status=published&status=draft&cursor=[\w.-]+>; rel="next"$/,
    );
    expect((await get('/documents?limit=13', bo.key)).headers.get('link')).toBeNull();
  });

  test('listDocuments rejects invalid cursors, limits, sorts and filters', async () => {
    const { headers } = await get('/documents?limit=2', bo.key);
    const [, cursor] = /cursor=([\w.-]+)/.exec(headers.get('link') ?? '') ?? [];
    expect((await get(`/documents?cursor=${cursor}`, bo.key)).status).toBe(200);
    // the page size may change, the organization may not
    expect((await get(`/documents?limit=1&cursor=${cursor}`, bo.key)).status).toBe(200);
    expect((await get(`/documents?cursor=${cursor}`, (await register(app)).key)).status).toBe(400);
    const forged = (position: unknown) => Buffer.from(JSON.stringify(position)).toString('base64url');
    for (const query of [
      `sort=title&cursor=${cursor}`,
      `department=Legal&cursor=${cursor}`,
      `sort=updated_at&cursor=${cursor}`,
      `sort=-created_at&cursor=${cursor}`,
      'cursor=nonsense',
      'cursor=WzFd',
      `cursor=${forged(['-updated_at', 'yesterday', null])}`,
      `cursor=${forged(['-updated_at', time(1), 'x'])}`,
      `cursor=${forged(['-updated_at', { $gt: '' }, null])}`,
      `sort=title&cursor=${forged(['title', { $gt: '' }, null])}`,
      'limit=0',
      'limit=101',
      'limit=x',
      'sort=status',
      'sort=',
      'status=gone',
      'status=draft&status=gone',
      'editor_id=me',
      'parent_doc_id=null',
      'updated_since=yesterday',
    ]) {
      const { status, body } = await get(`/documents?${query}`, bo.key);
      expect([query, status, body.code]).toEqual([query, 400, 'invalid_request']);
    }
  });
});

describe('filters', () => {
  let bo: Person;
  const [ann, ben, parent] = [newId(), newId(), newId()];
  beforeAll(async () => {
    bo = await register(app);
    const other = await register(app);
    const rows = [
      { title: '0', created_by: ann, editor_id: ben, department: 'Ops', updated_at: time(1) },
      { title: '1', created_by: ann, status: 'published', published_at: time(2), updated_at: time(2) },
      { title: '2', created_by: ben, status: 'archived', department: 'Ops', updated_at: time(3) },
      { title: '3', created_by: ben, parent_doc_id: parent, department: 'ops', updated_at: time(4) },
      { title: '4', created_by: ann, department: 'Ops', status: 'published', updated_at: time(5) },
    ];
    await insertRows(bo.organizationId, rows);
    await insertRows(other.organizationId, rows);
  });

  test.each([
    ['the default status', '', '0134'],
    ['status draft', 'status=draft', '03'],
    ['status published', 'status=published', '14'],
    ['status archived', 'status=archived', '2'],
    ['two statuses', 'status=archived&status=draft', '023'],
    ['all statuses', 'status=draft&status=published&status=archived', '01234'],
    ['the exact department', 'department=Ops', '04'],
    ['department and status', 'department=Ops&status=archived', '2'],
    ['an empty department label', 'department=', ''],
    ['creator', `created_by=${ann}`, '014'],
    ['creator and department', `created_by=${ann}&department=Ops`, '04'],
    ['creator, department and editor', `created_by=${ann}&department=Ops&editor_id=${ben}`, '0'],
    ['editor', `editor_id=${ben}`, '0'],
    ['an editor without documents', `editor_id=${ann}`, ''],
    ['revised document', `parent_doc_id=${parent}`, '3'],
    ['update time, inclusive', `updated_since=${time(2).toISOString()}`, '134'],
    ['update time with an offset', 'updated_since=2026-01-01T01:04:00%2B01:00', '34'],
    ['update time and creator', `updated_since=${time(2).toISOString()}&created_by=${ann}`, '14'],
  ])('listDocuments filters by %s', async (_name, query, expected) => {
    for (const sort of ['title', '-title', 'updated_at', '-updated_at', 'created_at', '-published_at']) {
      const found = await readPages(`${query}&sort=${sort}&limit=1`, bo.key);
      expect(found.map(({ title }) => title).sort()).toEqual([...expected]);
    }
  });

  test('listDocuments rejects unknown parameters', async () => {
    for (const query of ['colour=red', 'created_by[$ne]=x'])
      expect((await get(`/documents?${query}`, bo.key)).status).toBe(400);
    expect((await get('/documents/counts?status=draft', bo.key)).status).toBe(400);
  });

  test('countDocuments takes the filters of the list except status', async () => {
    const counts = async (query: string) => (await get(`/documents/counts?${query}`, bo.key)).body;
    expect(await counts('')).toEqual({ draft: 2, published: 2, archived: 1, total: 5 });
    expect(await counts('department=Ops')).toEqual({ draft: 1, published: 1, archived: 1, total: 3 });
    expect(await counts(`created_by=${ann}&department=Ops`)).toMatchObject({ total: 2 });
    expect(await counts(`editor_id=${ben}`)).toMatchObject({ draft: 1, total: 1 });
    expect(await counts(`parent_doc_id=${parent}`)).toMatchObject({ draft: 1, total: 1 });
    expect(await counts(`updated_since=${time(3).toISOString()}`)).toMatchObject({ total: 3 });
    expect((await get('/documents/counts?editor_id=me', bo.key)).status).toBe(400);
  });
});

test('listDocuments reflects the publish of a document', async () => {
  const bo = await register(app);
  const { id } = await create({ title: 'One' }, bo.key);
  const listed = async (query: string) => (await get(`/documents?${query}`, bo.key)).body.length;
  expect([await listed('status=draft'), await listed('status=published')]).toEqual([1, 0]);
  expect((await publish(id, bo.key)).status).toBe(200);
  expect([await listed('status=draft'), await listed('status=published')]).toEqual([0, 1]);
  expect((await get('/documents/counts', bo.key)).body).toEqual({
    draft: 0,
    published: 1,
    archived: 0,
    total: 1,
  });
});

test('getDocument returns 404 for malformed ids', async () => {
  for (const path of ['count', 'counts1', 'Counts', 'not-an-id', '1'])
    expect((await get(`/documents/${path}`)).status).toBe(404);
});

test('getDocument returns 304 for an unchanged document', async () => {
  const { id } = await create({ title: 'One' });
  const { headers } = await get(`/documents/${id}`);
  const known = { 'if-none-match': headers.get('etag') ?? '' };
  expect((await app.request('GET', `/documents/${id}`, { as: ada.key, headers: known })).status).toBe(304);
});
