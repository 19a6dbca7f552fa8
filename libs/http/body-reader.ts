/** Reads and decompresses request bodies. */
import type { IncomingMessage } from 'node:http';
import type { Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { MalformedJson, PayloadTooLarge, UnsupportedMediaType } from '#libs/contract';
import type { BodyLease } from './body-budget.ts';
import { formatBytes } from './format-bytes.ts';

/** The supported content encodings of a JSON body. */
const decoders = new Map<string, () => Transform>([
  ['gzip', () => createGunzip()],
  ['deflate', () => createInflate()],
  ['br', () => createBrotliDecompress()],
]);
const supportedEncodings = [...decoders.keys()].join(', ');

/**
 * Reads the body of a request; empty if it has none. Throws `PayloadTooLarge` above `limit` bytes, what `lease`
 * throws, `UnsupportedMediaType` for another encoding, and `MalformedJson` if the body ends too early.
 */
export async function readBytes(request: IncomingMessage, limit: number, lease: BodyLease): Promise<Buffer> {
  const decoder = createDecoder(request.headers['content-encoding']);
  if (!decoder && Number(request.headers['content-length'] ?? 0) > limit) throw bodyTooLarge(limit);
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  const source = decoder ? request.pipe(decoder) : request;
  const chunks: Buffer[] = [];
  let size = 0;
  const take = (chunk: Buffer) => {
    size += chunk.length;
    chunks.push(chunk);
    try {
      if (size > limit) throw bodyTooLarge(limit);
      lease.take(chunk.length);
    } catch (error) {
      fail(error);
    }
  };
  const fail = (error: unknown) => {
    source.off('data', take);
    chunks.length = 0;
    request.unpipe();
    // the rest is discarded
    request.resume();
    decoder?.destroy();
    reject(error);
  };
  const failUnread = () => fail(MalformedJson('The body could not be read.'));
  const finish = () => {
    const bytes = Buffer.concat(chunks, size);
    // the request refers to the chunks until its response ends
    chunks.length = 0;
    resolve(bytes);
  };
  source.on('data', take).once('end', finish);
  source.once('error', failUnread);
  if (decoder) request.once('error', failUnread);
  request.once('close', () => request.complete || failUnread());
  return promise;
}

/** Returns undefined if the body is not encoded. */
function createDecoder(encoding = 'identity') {
  const name = encoding.toLowerCase();
  if (name === 'identity') return undefined;
  const create = decoders.get(name);
  if (create) return create();
  throw UnsupportedMediaType(
    `Send the body without Content-Encoding, or with one of: ${supportedEncodings}.`,
    {
      headers: { 'Accept-Encoding': supportedEncodings },
    },
  );
}

function bodyTooLarge(limit: number) {
  return PayloadTooLarge(`The body is larger than ${formatBytes(limit)}.`, { extra: { limit_bytes: limit } });
}
