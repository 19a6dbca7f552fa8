/** Tests the search for documents by their words over HTTP with a real MongoDB. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { listAll, type Person, register, type TestApp, testApp, until } from '#libs/testing';
import { contracts } from '../contracts.ts';
import { identity } from '../testing/services.ts';
import { documents } from './service.ts';
import type { DocumentRow, SearchRow } from './store/collections.ts';

let app: TestApp;
beforeAll(async () => {
  app = await testApp({ services: [identity, documents], contracts });
});
afterAll(() => app?.stop());

const text = (words: string) => ({
  type: 'doc',
  content: [{ type: 'paragraph', content: [{ type: 'text', text: words }] }],
});
const documentRows = () => app.db.collection<DocumentRow>('documents');
const searchRows = () => app.db.collection<SearchRow>('search');

/** Creates a client that sends requests as one person. */
function createClient({ key, organizationId }: Person) {
  const request = async (method: string, path: string, body?: unknown) =>
    (await app.request(method, path, { as: key, body })).body;
  return {
    create: (body: object) => request('POST', '/documents', body),
    addNode: (id: string, title: string) =>
      request('POST', `/documents/${id}/nodes`, { node_type: 'section', title, order: 0 }),
    rename: (id: string, title: string) => request('PATCH', `/documents/${id}`, { title }),
    publish: (id: string) => request('POST', `/documents/${id}/publish`),
    archive: (id: string) => request('POST', `/documents/${id}/archive`),
    counts: (query: string) => request('GET', `/documents/counts?${query}`),
    titles: async (q: string, more = '') => {
      const { status, body } = await app.request(
        'GET',
        `/documents?sort=title&q=${encodeURIComponent(q)}${more}`,
        { as: key },
      );
      expect(status).toBe(200);
      return body.map(({ title }: { title: string }) => title) as string[];
    },
    /** Waits until the words of every document of the organization are up to date. */
    upToDate: () =>
      until('the words of all documents', async () => {
        const waiting = { organization_id: organizationId, reindex_at: { $ne: null } };
        return (await documentRows().countDocuments(waiting)) === 0;
      }),
  };
}

describe('search', () => {
  let find: (q: string, more?: string) => Promise<string[]>;
  beforeAll(async () => {
    const { create, titles, upToDate } = createClient(await register(app));
    find = titles;
    await create({
      title: 'Émergency “Stop” procedure',
      nodes: [
        {
          node_type: 'section',
          title: 'Turbine-hall',
          content: text('Press the RED button, e.g. B2.1; wait for Jürgen'),
          children: [{ node_type: 'step', title: 'Straße sperren', content: text('紧急停机程序') }],
        },
      ],
    });
    await create({
      title: 'Emergency exits',
      nodes: [
        {
          node_type: 'section',
          title: 'HEIẞE Leitung',
          content: text('Red signs, ΟΔΗΓΟΣ:ΝΕΟΣ, Not\u00adbeleuchtung, ŁÓDŹ, manœuvre'),
        },
      ],
    });
    await upToDate();
  });

  test.each([
    ['a word of the document title', 'procedure', 1],
    ['a word of a node title', 'turbine', 1],
    ['a word of the rich text', 'button', 1],
    ['a word in two documents', 'red', 2],
    ['words in any order from titles and text', 'jurgen procedure hall', 1],
    ['nothing if one word is missing', 'emergency procedure signs', 0],
    ['words without case and accents', 'EMERGENCY jÜrGeN', 1],
    ['decomposed Unicode characters', 'e\u0301mergency', 2],
    ['ß as ss', 'STRASSE', 1],
    ['a capital ß as ß', 'heiße', 1],
    ['a capital ß as ss', 'HEISSE', 1],
    ['letters with strokes as those without', 'Lodz', 1],
    ['a letter with a stroke and accents', 'łódź', 1],
    ['two letters in one as two', 'MANOEUVRE', 1],
    ['a final sigma as sigma', 'οδηγος', 1],
    ['capitals that end in sigma', 'ΝΕΟΣ', 1],
    ['a word with a soft hyphen in the text', 'notbeleuchtung', 1],
    ['a word with a soft hyphen in the query', 'e\u00admergency', 2],
    ['words between punctuation', 'stop', 1],
    ['nothing for digits inside a word', '2 1', 0],
    ['words separated by punctuation', 'b2.1', 1],
    ['two characters of a script without spaces', '停机', 1],
    ['one character of a script without spaces', '紧', 1],
    ['nothing for characters in another order', '机停', 0],
    ['nothing for a part of a word', 'emerg', 0],
    ['a repeated word', 'red RED', 2],
    ['nothing for punctuation only', '"-!? …', 0],
    ['a word with a minus as a plain word', 'emergency -red', 2],
    ['quoted words as plain words', '"procedure emergency"', 1],
    ['nothing for an operator name', '$where', 0],
    ['nothing for a regular expression', '.*', 0],
    ['nothing for JSON', '{"$gt":""}', 0],
    ['nothing for a field name', 'organization_id', 0],
    ['words separated by control characters', 'red\u0000button', 1],
  ])('q matches %s', async (_name, q, count) => {
    expect(await find(q)).toHaveLength(count);
  });

  test('invalid q parameters fail with 400, unusual characters do not', async () => {
    const { key } = await register(app);
    const statusOf = async (query: string) =>
      (await app.request('GET', `/documents?${query}`, { as: key })).status;
    expect(await statusOf('q=a&q=b')).toBe(400);
    expect(await statusOf('q=')).toBe(400);
    expect(await statusOf(`q=${'x'.repeat(201)}`)).toBe(400);
    expect(await statusOf('q[$text]=a')).toBe(400);
    expect(await statusOf('q=%ff%fe')).toBe(400);
    expect(await statusOf('q=%00%EF%BF%BD')).toBe(200);
    expect(
      await statusOf(`q=${encodeURIComponent([...'abcdefghijklmnopqrstuvwxyz0123456789'].join(' '))}`),
    ).toBe(200);
  });
});

test('a change can be found within two seconds, removed words cannot', async () => {
  const { create, addNode, rename, titles, upToDate } = createClient(await register(app));
  const { id } = await create({ title: 'First draft' });
  // the words of the document are not written yet, or just now
  await addNode(id, 'Lubrication');
  await until('the new word', async () => (await titles('draft lubrication')).length === 1);
  await upToDate();
  await rename(id, 'Second');
  await until('the removal of old words', async () => (await titles('draft')).length === 0);
  expect(await titles('second lubrication')).toEqual(['Second']);
});

test('a new node of an indexed document can be found at once', async () => {
  const { create, addNode, titles, upToDate } = createClient(await register(app));
  const { id } = await create({ title: 'Pump' });
  await upToDate();
  await addNode(id, 'Vidange de l’ŒUVRE');
  expect(await titles('pump vidange oeuvre')).toEqual(['Pump']);
  // without words
  await addNode(id, '…');
  await addNode(id, 'Filter');
  expect(await titles('pump vidange filter')).toEqual(['Pump']);
  expect(await documentRows().countDocuments({ _id: id, reindex_at: null, node_count: 3 })).toBe(1);
});

test('new nodes of a document with many words can be found within seconds', async () => {
  const { create, addNode, titles, upToDate } = createClient(await register(app));
  const words = Array.from({ length: 2_000 }, (_, at) => `w${at}`).join(' ');
  const nodes = [{ node_type: 'section', title: 'Long', content: text(words) }];
  const { id } = await create({ title: 'Compressor', nodes });
  await upToDate();
  await addNode(id, 'Gasket');
  expect(await documentRows().countDocuments({ _id: id, reindex_at: { $ne: null } })).toBe(1);
  await until('the new word', async () => (await titles('compressor w1999 gasket')).length === 1);
});

test('q works with every filter, sort and page, and with counts', async () => {
  const { create, publish, archive, titles, counts, upToDate } = createClient(await register(app));
  for (const title of ['Pump c', 'Pump a', 'Valve', 'Pump b'])
    await create({ title, department: title.slice(-1) });
  const { id } = await create({ title: 'Pump d' });
  await publish(id);
  const { id: old } = await create({ title: 'Pump old' });
  await publish(old);
  await archive(old);
  await upToDate();
  expect(await titles('pump')).toEqual(['Pump a', 'Pump b', 'Pump c', 'Pump d']);
  expect(await titles('pump', '&limit=2')).toEqual(['Pump a', 'Pump b']);
  expect(await titles('pump', '&department=b')).toEqual(['Pump b']);
  expect(await titles('pump', '&status=published')).toEqual(['Pump d']);
  expect(await titles('pump', '&status=archived')).toEqual(['Pump old']);
  expect(await counts('q=pump')).toEqual({ draft: 3, published: 1, archived: 1, total: 5 });
  expect(await counts('q=pump&department=b')).toEqual({ draft: 1, published: 0, archived: 0, total: 1 });
  expect(await counts('q=nowhere')).toEqual({ draft: 0, published: 0, archived: 0, total: 0 });
  expect(await counts('q=...')).toEqual({ draft: 0, published: 0, archived: 0, total: 0 });
});

test('pages of search results return each document once', async () => {
  const bo = await register(app);
  const { create, upToDate } = createClient(bo);
  for (let at = 0; at < 7; at += 1) await create({ title: `Needle ${at % 3}` });
  await upToDate();
  for (const sort of ['-updated_at', 'title', '-title', 'published_at', '-published_at']) {
    const path = `/documents?q=needle&limit=2&sort=${sort}`;
    const ids = (await listAll<{ id: string }>(app, path, bo.key)).map(({ id }) => id);
    expect([ids.length, new Set(ids).size]).toEqual([7, 7]);
  }
});

test('deleting a draft removes its words', async () => {
  const person = await register(app);
  const { create, upToDate, counts } = createClient(person);
  const { id } = await create({ title: 'Ephemeral' });
  await upToDate();
  expect(await searchRows().countDocuments({ _id: id })).toBe(1);
  expect((await app.request('DELETE', `/documents/${id}`, { as: person.key })).status).toBe(204);
  expect(await searchRows().countDocuments({ _id: id })).toBe(0);
  expect((await counts('q=ephemeral')).total).toBe(0);
});

test('a search never finds documents of another organization', async () => {
  const [ada, bob] = [createClient(await register(app)), createClient(await register(app))];
  await ada.create({ title: 'Confidential' });
  await bob.create({ title: 'Open' });
  await Promise.all([ada.upToDate(), bob.upToDate()]);
  expect([await ada.titles('confidential'), await bob.titles('confidential')]).toEqual([
    ['Confidential'],
    [],
  ]);
  expect((await bob.counts('q=confidential')).total).toBe(0);
});

test('documents from before the search index are indexed once at the start', async () => {
  const { create, titles, upToDate } = createClient(await register(app));
  const old = [await create({ title: 'Ancient b' }), await create({ title: 'ancient A' })];
  await upToDate();
  const filter = { _id: { $in: old.map(({ id }) => id) } };
  await documentRows().updateMany(filter, { $unset: { reindex_at: 1, normalized_title: 1 } });
  await searchRows().deleteMany({});
  await app.restart();
  await until('the old documents', async () => (await titles('ancient')).length === 2);
  await upToDate();
  expect(await titles('ancient')).toEqual(['ancient A', 'Ancient b']);

  await documentRows().updateMany(filter, { $unset: { reindex_at: 1 } });
  await app.restart();
  const { id } = await create({ title: 'Modern' });
  await until('the new document', async () => (await titles('modern')).length === 1);
  expect(await documentRows().countDocuments({ ...filter, reindex_at: { $exists: true } })).toBe(0);
  expect(id).toBeDefined();
});

test('a document is indexed with all title words and at most 64 KiB of words', async () => {
  const { create, titles, upToDate } = createClient(await register(app));
  const many = (from: number) =>
    Array.from({ length: 20_000 }, (_, at) => `w${(from + at).toString(36)}x`).join(' ');
  const nodes = [1e6, 2e6].map((from) => ({
    node_type: 'section',
    title: `Part ${from}`,
    content: text(many(from)),
  }));
  const { id } = await create({ title: 'Encyclopedia', nodes });
  await upToDate();
  expect(await titles('encyclopedia 2000000')).toEqual(['Encyclopedia']);
  const row = await searchRows().findOne({ _id: id });
  const bytes = Buffer.byteLength(row?.words.join(' ') ?? '');
  expect(bytes).toBeLessThanOrEqual(64 * 1024);
  expect(bytes).toBeGreaterThan(60 * 1024);
});

test('invalid rich text does not prevent indexing of other text', async () => {
  const { create, titles, upToDate } = createClient(await register(app));
  const nodes = [{ node_type: 'section', title: 'Broken section', content: text('lost') }];
  const { id } = await create({ title: 'Half readable', nodes });
  await app.db.collection('nodes').updateMany({ document_id: id }, { $set: { content: '{"type":' } });
  await documentRows().updateOne({ _id: id }, { $set: { reindex_at: new Date() }, $inc: { row_version: 1 } });
  await create({ title: 'Whole' });
  await upToDate();
  expect(await titles('readable broken')).toEqual(['Half readable']);
  expect(await titles('whole')).toEqual(['Whole']);
  expect(await titles('lost')).toEqual([]);
});

test('a document that cannot be indexed does not delay the others', async () => {
  const { create, titles, upToDate } = createClient(await register(app));
  const { id } = await create({ title: 'Damaged' });
  await upToDate();
  const damage = {
    $set: { title: 5 as unknown as string, reindex_at: new Date(1) },
    $inc: { row_version: 1 },
  };
  await documentRows().updateOne({ _id: id }, damage);
  await create({ title: 'Undamaged' });
  await until('the other document', async () => (await titles('undamaged')).length === 1);
  await documentRows().deleteOne({ _id: id });
});

test('publishing does not index a document again', async () => {
  const bo = await register(app);
  const { create, publish, titles, upToDate } = createClient(bo);
  const { id } = await create({ title: 'Quiet' });
  await upToDate();
  await publish(id);
  expect(await documentRows().findOne({ _id: id })).toMatchObject({
    status: 'published',
    reindex_at: null,
  });
  expect(await titles('quiet', '&status=published')).toEqual(['Quiet']);
});
