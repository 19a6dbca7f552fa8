/** Tests Markdown exports over HTTP with a real MongoDB. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { parse } from 'content-disposition';
import { newId } from '#libs/contract';
import { type Person, register, type TestApp } from '#libs/testing';
import { exportTestApp } from './testing/test-app.ts';

let app: TestApp;
let ada: Person;

beforeAll(async () => {
  ({ app, ada } = await exportTestApp());
});
afterAll(() => app?.stop());

async function createDraft(body: unknown): Promise<{ id: string }> {
  return (await app.request('POST', '/documents', { as: ada.key, body })).body;
}

const exportMarkdown = (id: string, as = ada.key, query = '', headers = {}) =>
  app.request('GET', `/documents/${id}/export/markdown${query}`, { as, headers });

describe('Markdown export', () => {
  const content = {
    type: 'doc',
    content: [
      { type: 'paragraph', content: [{ type: 'text', text: '# not a heading' }] },
      {
        type: 'orderedList',
        content: ['first', 'second'].map((text) => ({
          type: 'listItem',
          content: [{ type: 'paragraph', content: [{ type: 'text', text }] }],
        })),
      },
    ],
  };

  test('a Markdown file has a title, a property line and node headings', async () => {
    const { id } = await createDraft({
      title: 'Opening',
      version: '2.1',
      department: 'Vault',
      nodes: [
        {
          node_type: 'section',
          title: 'Before',
          children: [
            {
              node_type: 'step',
              title: 'Key',
              content,
              children: [{ node_type: 'sub_step', title: 'Turn' }],
            },
          ],
        },
      ],
    });
    const response = await exportMarkdown(id);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('text/markdown; charset=utf-8');
    expect(parse(response.headers.get('content-disposition') ?? '').parameters.filename).toBe('Opening.md');
    expect(Buffer.from(response.bytes).toString()).toBe(
      [
        '# Opening',
        'Version 2.1 · Department Vault',
        '## Before',
        '### Key',
        '\\# not a heading',
        '- first\n- second',
        '#### Turn\n',
      ].join('\n\n'),
    );
  });

  test('the flavor gfm has numbered lists, and headings below those of nodes', async () => {
    const heading = { type: 'heading', attrs: { level: 1 }, content: [{ type: 'text', text: 'Tools' }] };
    const { id } = await createDraft({
      title: 'Opening',
      nodes: [
        {
          node_type: 'section',
          title: 'Before',
          content: { ...content, content: [heading, ...content.content] },
        },
      ],
    });
    const response = await exportMarkdown(id, ada.key, '?flavor=gfm');
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('text/markdown; charset=utf-8');
    expect(Buffer.from(response.bytes).toString()).toBe(
      ['# Opening', '## Before', '### Tools #', '\\# not a heading', '1. first\n2. second\n'].join('\n\n'),
    );
  });

  test('each flavor has its own ETag, and plain is the default', async () => {
    const { id } = await createDraft({ title: 'Opening' });
    const queries = ['', '?flavor=plain', '?flavor=gfm'];
    const responses = await Promise.all(queries.map((query) => exportMarkdown(id, ada.key, query)));
    const [standard, plain, gfm] = responses.map(({ headers }) => headers.get('etag') ?? '');
    expect(plain).toBe(standard);
    expect(gfm).not.toBe(standard);
    const stale = await exportMarkdown(id, ada.key, '?flavor=gfm', { 'if-none-match': standard });
    const current = await exportMarkdown(id, ada.key, '?flavor=gfm', { 'if-none-match': gfm });
    expect([stale.status, current.status]).toEqual([200, 304]);
  });

  test('an unknown flavor gets 400 with the allowed ones', async () => {
    const { id } = await createDraft({ title: 'Opening' });
    const { status, body } = await exportMarkdown(id, ada.key, '?flavor=html');
    expect(status).toBe(400);
    expect(body.errors).toMatchObject([{ path: 'query/flavor', message: 'Pass `plain` or `gfm`' }]);
  });

  test('an unknown document and one of another organization get 404', async () => {
    const { id } = await createDraft({ title: 'Ours' });
    const eve = await register(app);
    const requests = [exportMarkdown(newId()), exportMarkdown('nonsense'), exportMarkdown(id, eve.key)];
    for (const { status } of await Promise.all(requests)) expect(status).toBe(404);
    expect((await app.request('GET', `/documents/${id}/export/markdown`)).status).toBe(401);
  });
});

describe('Markdown file name', () => {
  test.each([
    ['../../etc/passwd', '-..-etc-passwd.md'],
    ['a "quoted"; title\r\nSet-Cookie: x=1', 'a -quoted-; title Set-Cookie- x=1.md'],
    ['Störung – 手順 🔑', 'Störung – 手順 🔑.md'],
    ['NUL', 'NUL_.md'],
    ['\u202Egpj.exe', 'gpj.exe.md'],
  ])('the title %j becomes the file name %j', async (title, name) => {
    const { id } = await createDraft({ title });
    const response = await exportMarkdown(id);
    expect(response.status).toBe(200);
    expect(response.headers.get('set-cookie')).toBeNull();
    expect(parse(response.headers.get('content-disposition') ?? '').parameters.filename).toBe(name);
  });
});
