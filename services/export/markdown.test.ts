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

const exportMarkdown = (id: string, as = ada.key) =>
  app.request('GET', `/documents/${id}/export/markdown`, { as });

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
