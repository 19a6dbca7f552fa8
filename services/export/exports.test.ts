/** How exports read and what they keep: consistent while others write, made once for many, from memory when nothing changed. */
import { expect, test } from '@jest/globals';
import { Body, newId } from '#libs/contract';
import { exports } from './exports.ts';
import type { Opened } from './store/documents.ts';
import { type Run, TooMuchMemory } from './workers/worker-pool.ts';
import type { Job } from './workers/worker.ts';

const actor = { organization_id: newId(), user_id: newId(), key_id: null, role: 'member' };

/** A document in memory that is rendered as `title of the state/title of the nodes`; what is done for it is counted. */
function stage({ maxBytes = 100 } = {}) {
  const document = { _id: newId(), organization_id: actor.organization_id, family_id: newId() };
  const facts = { created_by: newId(), version: null, department: null, published_at: null, share_epoch: 0 };
  const on = {
    title: 'v1',
    row_version: 1,
    made: 0,
    organization_version: 1,
    isTooMuch: false,
    isAway: false,
    isBuiltInBroken: false,
    whileReading: () => {},
  };
  const opened = (): Opened => ({
    document: { ...document, ...facts, status: 'draft', title: on.title, row_version: on.row_version },
    organization: {
      ...{ _id: actor.organization_id, name: 'Acme', slug: 'acme', row_version: on.organization_version },
      ...{ lock_published: false, embed_origins: null },
    },
  });
  const render = async (_name: string, job?: Job) => {
    // the built-in template needs nothing
    if (!job && on.isBuiltInBroken) throw new Error('broken');
    if (!job) return {};
    const nodes = on.title;
    on.whileReading();
    if (on.isAway) return { because: 'unavailable' };
    if (job.moment.rowVersion !== on.row_version) return { because: 'changed' };
    if (nodes.length > job.maxBytes) return { because: 'too_large' };
    on.made += 1;
    if (on.isTooMuch) throw new TooMuchMemory(512);
    return { file: Buffer.from(`${job.facts.title}/${nodes}`), readBytes: nodes.length };
  };
  const [word, markdown] = exports({
    documents: {
      opened: async (_actor, id) => (id === document._id ? opened() : undefined),
    },
    // its row is there, its files are not any more
    templates: { usable: async () => ({ indentInches: 0.5, load: async () => undefined }) },
    // of the threads only what renders is used
    threads: { turn: (work) => work(render as unknown as Run) },
    metering: { made: () => undefined, refused: () => undefined },
    cacheBytes: 1_000,
    maxBytes,
  });
  /** What the answer says, with its ETag; `known` is an ETag that the client has the answer of. */
  const ask = async (known?: string, { id = document._id, by = '' } = {}) => {
    const call = {
      requestId: '',
      address: '',
      prefersHtml: false,
      hasCurrent: (tag: string) => tag === known,
    };
    const asked = { actor, params: { doc_id: id }, query: { template_id: by }, body: undefined };
    const result = await (by ? word : markdown)?.run({ ...asked, call: { ...call, audit: () => undefined } });
    if (typeof result !== 'object' || result === null || !('value' in result)) throw new Error('No answer');
    if (!(result.value instanceof Body)) throw new Error('No body');
    return { text: String(result.value.content), etag: 'etag' in result ? String(result.etag) : '' };
  };
  const write = (title: string) => {
    on.title = title;
    on.row_version += 1;
  };
  return { on, ask, write };
}

test('a document that changes while it is read is read again', async () => {
  const { on, ask, write } = stage();
  on.whileReading = () => {
    if (on.title === 'v1') write('v2');
  };
  expect((await ask()).text).toBe('v2/v2');
  expect(on.made).toBe(1);
});

test('a document that never stops changing is a 503, not a mix of two versions', async () => {
  const { on, ask, write } = stage();
  on.whileReading = () => write(`${on.title}+`);
  await expect(ask()).rejects.toMatchObject({ name: 'unavailable', headers: { 'Retry-After': '1' } });
  expect(on.made).toBe(0);
});

test('what did not change is not made again, also for those who ask at the same time', async () => {
  const { on, ask } = stage();
  const all = await Promise.all([ask(), ask(), ask()]);
  expect(all.map(({ text }) => text)).toEqual(['v1/v1', 'v1/v1', 'v1/v1']);
  await ask();
  expect(on.made).toBe(1);
});

test('who has the file already is not sent it', async () => {
  const { on, ask } = stage();
  const { etag } = await ask();
  expect(await ask(etag)).toEqual({ text: '', etag });
  expect(on.made).toBe(1);
});

test('a change of the document or of its organization gives another file and another ETag', async () => {
  const { on, ask, write } = stage();
  const first = await ask();
  write('v2');
  const second = await ask(first.etag);
  on.organization_version += 1;
  const third = await ask(second.etag);
  expect([second.text, third.text, on.made]).toEqual(['v2/v2', 'v2/v2', 3]);
  expect(new Set([first, second, third].map(({ etag }) => etag)).size).toBe(3);
});

test('a document that is not there is a 404', async () => {
  await expect(stage().ask(undefined, { id: newId() })).rejects.toMatchObject({ name: 'not_found' });
});

test('a document that is too large is a 400 that names the limit', async () => {
  const { on, ask } = stage({ maxBytes: 1 });
  await expect(ask()).rejects.toMatchObject({
    name: 'export_too_large',
    message: expect.stringMatching(/more than .* MiB/),
  });
  expect(on.made).toBe(0);
});

test('a database that is away while the nodes are read is a 503 that says when to come again', async () => {
  const { on, ask } = stage();
  on.isAway = true;
  await expect(ask()).rejects.toMatchObject({ name: 'unavailable', headers: { 'Retry-After': '2' } });
  on.isAway = false;
  expect((await ask()).text).toBe('v1/v1');
});

test('a file that needs more memory than a thread may take is a 400 that names the limit', async () => {
  const { on, ask } = stage();
  on.isTooMuch = true;
  await expect(ask()).rejects.toMatchObject({
    name: 'export_too_large',
    message: expect.stringContaining('512 MB'),
  });
});

test('a template that is deleted at this moment is a 404', async () => {
  await expect(stage().ask(undefined, { by: newId() })).rejects.toMatchObject({ name: 'not_found' });
});

test('the built-in template is made once, and again when that failed', async () => {
  const { on, ask } = stage();
  on.isBuiltInBroken = true;
  await expect(ask(undefined, { by: 'default' })).rejects.toThrow('broken');
  on.isBuiltInBroken = false;
  expect((await ask(undefined, { by: 'default' })).text).toBe('v1/v1');
});
