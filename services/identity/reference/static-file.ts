/** Files that do not change while the process runs: they are kept compressed, each with an ETag. */
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';

/** The compressed content of a file, and the ETag of the content without quotes. */
export interface StaticFile {
  readonly gzipped: Uint8Array;
  readonly etag: string;
}

const [compress, decompress] = [promisify(gzip), promisify(gunzip)];

/** Compresses a file. */
export async function toStaticFile(content: string | Uint8Array): Promise<StaticFile> {
  const etag = createHash('sha256').update(content).digest('base64url').slice(0, 22);
  return { gzipped: await compress(content), etag };
}

/** Returns what to send to a client that accepts gzip, or not: bytes, ETag and headers. */
export async function encodeFile(
  { gzipped, etag }: StaticFile,
  { acceptsGzip }: { acceptsGzip: boolean },
): Promise<{ bytes: Uint8Array; etag: string; headers: Record<string, string> }> {
  const headers = { Vary: 'Accept-Encoding' };
  if (!acceptsGzip) return { bytes: await decompress(gzipped), etag, headers };
  return { bytes: gzipped, etag: `${etag}-gzip`, headers: { ...headers, 'Content-Encoding': 'gzip' } };
}
