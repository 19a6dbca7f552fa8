/** Tests of previews and imports over HTTP. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newId } from '#libs/contract';
import { readMetric } from '#libs/testing';
import { encodePng } from '../../tests/fixtures/generators/png.ts';
import { identity } from '../identity/service.ts';
import { documents } from './service.ts';
import { type TestContext, type TestMember, testContext } from './testing/test-context.ts';

let context: TestContext;
let ada: TestMember;
let bo: TestMember;
beforeAll(async () => {
  context = await testContext([identity, documents]);
  ada = await context.admin();
  bo = await context.admin();
});
afterAll(() => context?.app.stop());

interface Upload {
  name?: string;
  path?: '/imports' | '/imports/preview';
  headers?: Record<string, string>;
  fields?: Record<string, string>;
}

function upload({ as }: TestMember, bytes: string | Uint8Array, options: Upload = {}) {
  const { name = 'sop.md', path = '/imports', headers = {}, fields = {} } = options;
  const form = new FormData();
  for (const [field, value] of Object.entries(fields)) form.append(field, value);
  form.append('file', new Blob([typeof bytes === 'string' ? bytes : Buffer.from(bytes)]), name);
  return context.app.request('POST', path, { as, body: form, headers });
}

const countDocuments = async ({ as }: TestMember) =>
  (await context.app.request('GET', '/documents/counts', { as })).body.total;

const dataUri = () => `data:image/png;base64,${Buffer.from(encodePng(3, 2, randomColor)).toString('base64')}`;
const randomColor = (x: number, y: number) => [x * 40, y * 90, Math.floor(Math.random() * 256), 255];

const sop = `# Filling line

Version 2.1 · Department Assembly

Wear gloves.

## Preparation

Check the **main valve**.

### Tools

- [x] wrench
- [ ] torch

#### Spare parts

| Part | Pieces |
| --- | --- |
| Bolt | 4 |
`;

describe('createImport', () => {
  test('creates a draft of the caller with title, version, department and tree', async () => {
    const { status, body } = await upload(ada, sop);
    expect(status).toBe(201);
    expect(body.report).toEqual({
      ...{ format: 'markdown', documents: 1, nodes: 4, pictures: 0, dropped: [], warnings: [] },
    });
    const [draft] = body.documents;
    expect(draft).toMatchObject({ title: 'Filling line', version: '2.1', department: 'Assembly' });
    expect(draft).toMatchObject({ status: 'draft', created_by: ada.id });
    const { body: document } = await context.app.request('GET', `/documents/${draft.id}`, { as: ada.as });
    expect(document.nodes.map(({ title }: { title: string }) => title)).toEqual([
      'Introduction',
      'Preparation',
    ]);
    expect(document.nodes[1].children[0]).toMatchObject({
      title: 'Tools',
      content: {
        content: [
          { type: 'taskList', content: [{ attrs: { checked: true } }, { attrs: { checked: false } }] },
        ],
      },
      children: [{ title: 'Spare parts', node_type: 'sub_step', content: { content: [{ type: 'table' }] } }],
    });
  });

  test('turns embedded pictures into assets that the draft references', async () => {
    const { body } = await upload(ada, `# One\n\n## Two\n\n![A valve](${dataUri()})\n`);
    expect(body.report).toMatchObject({ pictures: 1, warnings: [] });
    const { body: document } = await context.app.request('GET', `/documents/${body.documents[0].id}`, {
      as: ada.as,
    });
    const [image] = document.nodes[0].content.content;
    expect(image).toMatchObject({ type: 'image', attrs: { alt: 'A valve' } });
    const id = image.attrs.src.replace('asset:', '');
    const { status } = await context.app.request('GET', `/assets/${id}`, { as: ada.as });
    expect(status).toBe(200);
  });

  test('replays the response for an Idempotency-Key and creates one draft', async () => {
    const headers = { 'Idempotency-Key': newId() };
    const first = await upload(ada, sop, { headers });
    const before = await countDocuments(ada);
    const second = await upload(ada, sop, { headers });
    expect(second.body).toEqual(first.body);
    expect(second.headers.get('idempotency-replayed')).toBe('true');
    expect(await countDocuments(ada)).toBe(before);
    const other = await upload(ada, `${sop}more`, { headers });
    expect(other.body).toMatchObject({ code: 'idempotency_key_reused' });
  });

  test.each<[string, string | Uint8Array, Upload, number, object]>([
    ['an unknown extension', 'text', { name: 'a.txt' }, 400, { reason: 'unknown_format' }],
    ['Latin-1 text', Buffer.from('# Prüfung', 'latin1'), {}, 400, { reason: 'not_utf8' }],
    [
      'a damaged zip',
      Buffer.from('PK\u0003\u0004'.padEnd(64, 'x')),
      { name: 'a.zip' },
      400,
      { reason: 'malformed' },
    ],
    [
      'an old Word file',
      Buffer.from('d0cf11e0a1b11ae1'.padEnd(64, '0'), 'hex'),
      {},
      400,
      { reason: 'legacy_doc' },
    ],
    ['a text of 3 MiB', `# A\n\n${'word '.repeat(600_000)}`, {}, 413, { code: 'payload_too_large' }],
    ['a node of 600 KiB', `# A\n\n${'word '.repeat(120_000)}`, {}, 400, { code: 'content_too_large' }],
    ['10,001 headings', `# A\n\n${'## B\n\n'.repeat(10_001)}`, {}, 400, { code: 'too_many_nodes' }],
    ['an unknown choice', sop, { fields: { tracked_changes: 'keep' } }, 400, { code: 'invalid_request' }],
  ])('rejects %s and stores nothing', async (_name, bytes, options, status, problem) => {
    const before = await countDocuments(ada);
    const response = await upload(ada, bytes, options);
    expect(response.body).toMatchObject({ status, ...problem });
    expect(await countDocuments(ada)).toBe(before);
  });
});

test('conversions and rejected files are counted', async () => {
  const read = (name: string, labels: Record<string, string>) =>
    readMetric(context.app.management, name, labels);
  const readAll = () =>
    Promise.all([
      read('import_duration_seconds_count', { format: 'markdown' }),
      read('import_rejected_total', { reason: 'invalid' }),
    ]);
  const before = await readAll();
  await upload(ada, sop);
  await upload(ada, sop, { path: '/imports/preview' });
  await upload(ada, 'a', { name: 'a.pdf' });
  expect(await readAll()).toEqual([before[0] + 2, before[1] + 1]);
});

describe('previewImport', () => {
  const preview = { path: '/imports/preview' } as const;

  test('returns bodies of createDocument and creates nothing', async () => {
    const before = await countDocuments(bo);
    const { status, body } = await upload(bo, sop, preview);
    expect(status).toBe(200);
    expect(await countDocuments(bo)).toBe(before);
    const [document] = body.documents;
    const created = await context.app.request('POST', '/documents', { as: bo.as, body: document });
    expect(created.status).toBe(201);
  });

  test('a draft from a preview has the content hash of an imported one', async () => {
    const text = `${sop}\n![A valve](${dataUri()})\n`;
    const previewed = await upload(bo, text, preview);
    const one = await context.app.request('POST', '/documents', {
      as: bo.as,
      body: previewed.body.documents[0],
    });
    const two = await upload(bo, text);
    const hashes = await Promise.all([one.body.id, two.body.documents[0].id].map(publish));
    expect(hashes[0]).toMatch(/^sha256:[0-9a-f]{64}$/);
    expect(hashes[0]).toBe(hashes[1]);
  });

  test('repeats the preview for an Idempotency-Key', async () => {
    const headers = { 'Idempotency-Key': newId() };
    const first = await upload(bo, sop, { ...preview, headers });
    const second = await upload(bo, sop, { ...preview, headers });
    expect(second.body).toEqual(first.body);
    expect(second.headers.get('idempotency-replayed')).toBe('true');
  });

  async function publish(id: string): Promise<string> {
    return (await context.app.request('POST', `/documents/${id}/publish`, { as: bo.as })).body.content_hash;
  }
});
