/** Tests of personal links over HTTP: who reads what, and what posting the form does. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { must, type Person } from '#libs/testing';
import {
  type AcknowledgementFixture,
  acknowledgementFixture,
  hashServed,
  outcome,
} from '../testing/acknowledgements.ts';

let fixture: AcknowledgementFixture;
let ada: Person;

beforeAll(async () => {
  fixture = await acknowledgementFixture();
  ada = await fixture.organization();
}, 120_000);
afterAll(() => fixture?.app.stop());

/** A document with a request and one reader. */
async function askReader(as = ada.key, body: object = {}) {
  const document = await fixture.publish(as);
  const request = await fixture.ask(as, document.id, body);
  const [reader] = await fixture.addReaders(as, request.id, ['E 1']);
  return { document, request, reader };
}

const getPage = async (url: string) => {
  const response = await fixture.app.request('GET', `${new URL(url).pathname}?format=html`);
  return { response, html: Buffer.from(response.bytes).toString() };
};

describe('a personal link', () => {
  test('shows the document with what is asked, as JSON', async () => {
    const { document, request, reader } = await askReader();
    const response = await fixture.read(reader.url);
    expect(response.status).toBe(200);
    const { acknowledgement, ...embedded } = response.body;
    expect(acknowledgement).toEqual({
      ...{ statement: request.statement, due_at: reader.due_at },
      ...{ content_hash: document.content_hash, acknowledged_at: null },
    });
    expect(embedded).toMatchObject({ id: document.id, title: 'Vault', status: 'published' });
    expect(response.headers.get('cache-control')).toBe('private, no-cache');
    expect(response.headers.get('referrer-policy')).toBe('no-referrer');
    expect(response.headers.has('access-control-allow-origin')).toBe(false);
    expect(response.headers.has('set-cookie')).toBe(false);
  });

  test('is not mixed up with those that others read at the same time', async () => {
    const all = await Promise.all(Array.from({ length: 4 }, () => askReader()));
    const [first] = all;
    if (!first) throw new Error('There are four readers');
    const others = await fixture.addReaders(ada.key, first.request.id, ['E 2', 'E 3']);
    const links = [...all, ...others.map((reader) => ({ ...first, reader }))];
    for (let round = 0; round < 5; round += 1) {
      const responses = await Promise.all(links.map(({ reader }) => fixture.read(reader.url)));
      for (const [at, { body }] of responses.entries()) {
        expect(body.id).toBe(links[at]?.document.id);
        expect(body.acknowledgement).toMatchObject({ content_hash: links[at]?.document.content_hash });
      }
    }
  });

  test('posts the hash of the words that were served', async () => {
    const { reader, request } = await askReader();
    const { acknowledgement, ...served } = (await fixture.read(reader.url)).body;
    const contentHash = hashServed(served);
    expect(acknowledgement.content_hash).toBe(contentHash);
    const response = await fixture.submit(reader.url, { content_hash: contentHash });
    expect(response.status).toBe(303);
    expect(response.headers.get('location')).toBe(new URL(reader.url).pathname);
    const path = `/acknowledgements?request_id=${request.id}`;
    const [record] = await must(fixture.app, 'GET', path, { as: ada.key });
    expect(record).toMatchObject({ content_hash: contentHash, person: { id: reader.id, kind: 'reader' } });
    const { acknowledged_at } = (await fixture.read(reader.url)).body.acknowledgement;
    expect(acknowledged_at).toBe(record.created_at);
  });

  test('changes nothing when it is posted twice', async () => {
    const { document, reader, request } = await askReader();
    const fields = { content_hash: document.content_hash };
    const both = await Promise.all([fixture.submit(reader.url, fields), fixture.submit(reader.url, fields)]);
    const third = await fixture.submit(reader.url, fields);
    expect([...both, third].map(({ status }) => status)).toEqual([303, 303, 303]);
    const path = `/acknowledgements?request_id=${request.id}`;
    expect(await must(fixture.app, 'GET', path, { as: ada.key })).toHaveLength(1);
  });

  test('asks again after a new version, not after a minor one', async () => {
    const { document, reader } = await askReader();
    const old = { content_hash: document.content_hash };
    await fixture.submit(reader.url, old);
    const minor = await fixture.revise(ada.key, document.id, { title: 'Vault 2', minor_change: true });
    const shown = (await fixture.read(reader.url)).body;
    expect([shown.id, shown.acknowledgement.acknowledged_at]).toEqual([minor.id, expect.any(String)]);
    const major = await fixture.revise(ada.key, minor.id, { title: 'Vault 3' });
    const { acknowledgement } = (await fixture.read(reader.url)).body;
    expect(acknowledgement).toMatchObject({ acknowledged_at: null, content_hash: major.content_hash });
    expect(outcome(await fixture.submit(reader.url, old))).toEqual([400, 'content_changed']);
    const path = `${new URL(reader.url).pathname}?format=html`;
    const page = await fixture.app.request('POST', path, { body: new URLSearchParams(old) });
    expect(page.status).toBe(400);
    const html = Buffer.from(page.bytes).toString();
    // an edit in place leads to the same page
    for (const text of ['The document has changed', 'The document was changed while you were reading'])
      expect(html).toContain(text);
  });

  test('has an ETag that changes with the acknowledgement, for each reader', async () => {
    const { document, reader, request } = await askReader();
    const [other] = await fixture.addReaders(ada.key, request.id, ['E 2']);
    const first = await fixture.read(reader.url);
    const etag = first.headers.get('etag') ?? '';
    expect((await fixture.read(reader.url, { 'if-none-match': etag })).status).toBe(304);
    expect((await fixture.read(other.url, { 'if-none-match': etag })).status).toBe(200);
    await fixture.submit(reader.url, { content_hash: document.content_hash });
    expect((await fixture.read(reader.url, { 'if-none-match': etag })).status).toBe(200);
  });

  test('stops working with the request, the reader and the document', async () => {
    const cases = await Promise.all([askReader(), askReader(), askReader()]);
    const [closed, deleted, archived] = cases;
    const paths = { closed: `/acknowledgement-requests/${closed.request.id}/close` };
    await must(fixture.app, 'POST', paths.closed, { as: ada.key });
    const readerPath = `/acknowledgement-requests/${deleted.request.id}/readers/${deleted.reader.id}`;
    await must(fixture.app, 'DELETE', readerPath, { as: ada.key, status: 204 });
    await must(fixture.app, 'POST', `/documents/${archived.document.id}/archive`, { as: ada.key });
    const unknown = await fixture.read('http://localhost/read/unknown');
    for (const { reader, document } of cases) {
      const { request_id: _, ...body } = (await fixture.read(reader.url)).body;
      const { request_id: __, ...expected } = unknown.body;
      expect(body).toEqual(expected);
      const posted = await fixture.submit(reader.url, { content_hash: document.content_hash });
      expect(outcome(posted)).toEqual([404, 'not_found']);
    }
    // a later publication does not reopen the request
    const draft = await must(fixture.app, 'POST', `/documents/${archived.document.id}/restore`, {
      as: ada.key,
    });
    const body = { version: '2' };
    await must(fixture.app, 'PATCH', `/documents/${draft.id}`, { as: ada.key, body });
    await must(fixture.app, 'POST', `/documents/${draft.id}/publish`, { as: ada.key });
    expect((await fixture.read(archived.reader.url)).status).toBe(404);
    expect((await fixture.getRequest(ada.key, archived.request.id)).status).toBe('closed');
    await fixture.ask(ada.key, draft.id);
  });

  test.each([
    ['without a hash', {}, 400],
    ['with another field', { content_hash: 'x', name: 'y' }, 400],
    ['with another hash', { content_hash: 'x' }, 400],
    ['of 1 MiB', { content_hash: 'x'.repeat(2 ** 20) }, 413],
  ])('rejects a form %s', async (_name, fields, status) => {
    const { reader } = await askReader();
    expect((await fixture.submit(reader.url, fields)).status).toBe(status);
  });

  test('rejects a form as JSON', async () => {
    const { document, reader } = await askReader();
    const body = { content_hash: document.content_hash };
    expect((await fixture.app.request('POST', new URL(reader.url).pathname, { body })).status).toBe(415);
  });

  test.each(['x', 'a'.repeat(43), '%00', '..%2f', 'é'.repeat(200)])(
    'gives 404 for the token %s',
    async (token) => {
      const response = await fixture.app.request('GET', `/read/${encodeURIComponent(token)}`);
      expect(outcome(response)).toEqual([404, 'not_found']);
    },
  );

  test('is not logged and stored only as a hash and sealed', async () => {
    const { reader } = await askReader();
    const token = new URL(reader.url).pathname.split('/')[2] ?? '';
    expect(token).toHaveLength(43);
    await fixture.read(reader.url);
    const lines = fixture.app.logLines().map((line) => JSON.stringify(line));
    expect(lines.filter((line) => line.includes(token))).toEqual([]);
    const rows = await fixture.app.db.collection('acknowledgement_readers').find().toArray();
    expect(JSON.stringify(rows)).not.toContain(token);
  });
});

describe('the page of a personal link', () => {
  test('has the name, the statement, one button and no script', async () => {
    const { reader, document } = await askReader(ada.key, { statement: 'I know <where> the key is.' });
    const { response, html } = await getPage(reader.url);
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(html).toContain('<bdi>Reader E 1</bdi>');
    expect(html).toContain('I know &lt;where&gt; the key is.');
    expect(html).toContain(`value="${document.content_hash}"`);
    expect(html.match(/<button/g)).toHaveLength(1);
    expect(html).not.toContain('<script');
    expect(html).not.toContain('<!--');
    const policy = response.headers.get('content-security-policy') ?? '';
    expect(policy).toContain("form-action 'self'");
    expect(policy).toContain("frame-ancestors 'none'");
    await fixture.submit(reader.url, { content_hash: document.content_hash });
    const after = (await getPage(reader.url)).html;
    expect(after).not.toContain('<button');
    expect(after).toContain('Confirmed on');
  });

  test('may be framed only by origins that embed_origins names', async () => {
    const grace = await fixture.organization();
    const { reader } = await askReader(grace.key);
    const settings = { embed_origins: ['https://intranet.example'] };
    await must(fixture.app, 'PATCH', '/organization', { as: grace.token, body: { settings } });
    const policy = (await getPage(reader.url)).response.headers.get('content-security-policy');
    expect(policy).toContain('frame-ancestors https://intranet.example');
  });

  test('is in the language of the document, with its default statement', async () => {
    const document = await fixture.publish(ada.key, { language: 'de' });
    const request = await fixture.ask(ada.key, document.id);
    expect(request.statement).toBe('Ich habe dieses Dokument gelesen und verstanden.');
    const [reader] = await fixture.addReaders(ada.key, request.id, ['E 1']);
    expect((await getPage(reader.url)).html).toContain('<button>Bestätigen</button>');
  });
});
