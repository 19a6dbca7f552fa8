/** Hostile request bodies. Each names its operation, creates its body and says how it must be answered. */
import { gzipSync } from 'node:zlib';
import type { Person, TestResponse } from '#libs/testing';

/** A hostile body. */
export interface HostileBody {
  name: string;
  method: 'POST' | 'PUT' | 'PATCH';
  path: string;
  /** Creates the raw body, which is sent unchanged. */
  create(): string | Uint8Array;
  headers?: Record<string, string>;
  /** The expected status and code of the problem. */
  expected: readonly [status: number, code: string];
}

const json = { 'content-type': 'application/json' };
const form = { 'content-type': 'multipart/form-data; boundary=b' };

/** A form with one file. */
function upload(name: string, file: Uint8Array): Uint8Array {
  const head = `--b\r\ncontent-disposition: form-data; name="file"; filename="${name}"\r\n\r\n`;
  return Buffer.concat([Buffer.from(head), file, Buffer.from('\r\n--b--\r\n')]);
}

const png = Buffer.from('89504e470d0a1a0a', 'hex');
/** A PNG chunk without data. Its checksum is wrong. */
const emptyChunk = Buffer.from('0000000074455874ffffffff', 'hex');

/** The bodies. To add one, add it here: the test sends each of them while other requests run. */
export const hostileBodies: readonly HostileBody[] = [
  {
    name: 'JSON with 100,000 nested lists',
    ...{ method: 'POST', path: '/documents', headers: json },
    create: () => `{"title":${'['.repeat(100_000)}${']'.repeat(100_000)}}`,
    expected: [400, 'malformed_json'],
  },
  {
    name: 'a tree of 1,000 levels',
    ...{ method: 'POST', path: '/documents', headers: json },
    create: () => `{"title":"x","nodes":${'[{"node_type":"section","title":"x","children":'.repeat(1_000)}`,
    expected: [400, 'malformed_json'],
  },
  {
    name: 'an object with 150,000 unknown names',
    ...{ method: 'POST', path: '/documents', headers: json },
    create: () =>
      JSON.stringify(Object.fromEntries(Array.from({ length: 150_000 }, (_, at) => [`k${at}`, 1]))),
    expected: [400, 'malformed_json'],
  },
  {
    name: '600,000 nested nodes without fields',
    ...{ method: 'POST', path: '/documents', headers: json },
    create: () => {
      const node = `{"children":[${'{},'.repeat(59)}{}]}`;
      return `{"title":"x","nodes":[${`${node},`.repeat(9_999)}${node}]}`;
    },
    expected: [400, 'invalid_request'],
  },
  {
    name: '10,000 texts with 60 mistakes each',
    ...{ method: 'POST', path: '/documents', headers: json },
    create: () => {
      const mistakes = Array.from({ length: 60 }, () => ({ x: 1 }));
      const node = { node_type: 'section', title: 'x', content: { type: 'doc', content: mistakes } };
      return JSON.stringify({ title: 'x', nodes: Array.from({ length: 10_000 }, () => node) });
    },
    expected: [400, 'invalid_request'],
  },
  {
    name: '100 MB in 100 KB of gzip',
    ...{ method: 'POST', path: '/documents', headers: { ...json, 'content-encoding': 'gzip' } },
    create: () => gzipSync(Buffer.alloc(100_000_000, ' ')),
    expected: [413, 'payload_too_large'],
  },
  {
    name: 'a multipart boundary of 253 characters',
    method: 'POST',
    path: '/templates',
    headers: { 'content-type': `multipart/form-data; boundary=${'x'.repeat(253)}` },
    create: () => `--${'x'.repeat(253)}\r\n`,
    expected: [400, 'malformed_multipart'],
  },
  {
    name: 'a GIF of 60,000 pixels a side',
    ...{ method: 'POST', path: '/assets', headers: form },
    create: () => {
      const gif = '47494638396160ea60ea800000000000ffffff2c00000000010001000002024401003b';
      return upload('a.gif', Buffer.from(gif, 'hex'));
    },
    expected: [400, 'asset_invalid'],
  },
  {
    name: 'a PNG with 800,000 empty chunks',
    ...{ method: 'POST', path: '/assets', headers: form },
    create: () => upload('a.png', Buffer.concat([png, Buffer.alloc(800_000 * 12, emptyChunk)])),
    expected: [400, 'asset_invalid'],
  },
  {
    name: 'a JPEG with 2,000,000 empty segments',
    ...{ method: 'POST', path: '/assets', headers: form },
    create: () => {
      const segments = Buffer.alloc(2_000_000 * 4, Buffer.from('ffec0002', 'hex'));
      return upload('a.jpg', Buffer.concat([Buffer.from('ffd8', 'hex'), segments]));
    },
    expected: [400, 'asset_invalid'],
  },
  {
    name: 'a picture that is a page with a script',
    ...{ method: 'POST', path: '/assets', headers: form },
    create: () =>
      upload('a.png', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script>1</script></svg>')),
    expected: [400, 'asset_invalid'],
  },
];

/** Sends other requests, one after the other, until `isOver`. Returns how long the slowest one waited, ms. */
export async function measureOthers(
  send: (as: Person['key']) => Promise<TestResponse>,
  as: Person['key'],
  isOver: () => boolean,
): Promise<{ slowestMs: number; statuses: Set<number> }> {
  let slowestMs = 0;
  const statuses = new Set<number>();
  do {
    const startedAt = performance.now();
    statuses.add((await send(as)).status);
    slowestMs = Math.max(slowestMs, performance.now() - startedAt);
  } while (!isOver());
  return { slowestMs, statuses };
}
