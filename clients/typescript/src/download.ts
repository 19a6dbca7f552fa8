/** Files that the service sends, such as Word exports. */
import { ConnectionError } from './errors.ts';

/** A file. Its content can be read once, by one of the methods or as a stream. */
export interface Download {
  /** The name that the service proposes, without folders. */
  name: string;
  /** Media type. */
  type: string;
  stream: ReadableStream<Uint8Array>;
  bytes(): Promise<Uint8Array>;
  text(): Promise<string>;
  blob(): Promise<Blob>;
}

/** Makes a file of a response whose content has not been read. */
export function toDownload(response: Response): Download {
  const read = <T>(content: Promise<T>) =>
    content.catch((cause: unknown) => {
      throw new ConnectionError('The connection broke before the file was complete. Request it again.', {
        cause,
      });
    });
  return {
    name: parseFileName(response.headers.get('content-disposition') ?? '') ?? 'download',
    type: response.headers.get('content-type') ?? 'application/octet-stream',
    stream: response.body ?? new Blob([]).stream(),
    bytes: async () => new Uint8Array(await read(response.arrayBuffer())),
    text: () => read(response.text()),
    blob: () => read(response.blob()),
  };
}

/** The file name of a `Content-Disposition` header (RFC 6266), without folders; undefined if it is not safe. */
export function parseFileName(header: string): string | undefined {
  const extended = /;\s*filename\*=utf-8''([^;]+)/i.exec(header)?.[1];
  const quoted = /;\s*filename="((?:[^"\\]|\\.)*)"/i.exec(header)?.[1]?.replaceAll(/\\(.)/g, '$1');
  const plain = /;\s*filename=([^\s";]+)/i.exec(header)?.[1];
  const name = (extended && decode(extended)) ?? quoted ?? plain;
  const base = name?.replace(/^.*[/\\]/s, '');
  return base && base !== '.' && base !== '..' && !/\p{Cc}/u.test(base) ? base : undefined;
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
