/** Files that the service sends, such as Word exports. */
import { ConnectionError } from './errors.ts';

/** `Uint8Array<ArrayBuffer>`, which TypeScript before 5.7 calls `Uint8Array`. */
type FileBytes = ReturnType<Uint8ArrayConstructor['of']>;

/**
 * A file. Its content can be read once, by one of the methods or as a stream. If the connection breaks before
 * its end, reading rejects with a `ConnectionError`; if the signal of the call is aborted, with the reason of the
 * signal.
 */
export interface Download {
  /** The name that the service proposes, without folders. */
  name: string;
  /** Media type. */
  type: string;
  stream: ReadableStream<FileBytes>;
  bytes(): Promise<FileBytes>;
  text(): Promise<string>;
  blob(): Promise<Blob>;
}

/** Makes a file of a response whose content has not been read. `signal` is that of the call. */
export function toDownload(response: Response, signal?: AbortSignal): Download {
  const type = response.headers.get('content-type') ?? 'application/octet-stream';
  const stream = toStream(response, signal);
  return {
    name: parseFileName(response.headers.get('content-disposition') ?? '') ?? 'download',
    type,
    stream,
    bytes: async () => new Uint8Array(await toUnread(stream).arrayBuffer()),
    text: async () => toUnread(stream).text(),
    blob: async () => new Blob([await toUnread(stream).arrayBuffer()], { type }),
  };
}

/** The content of a response. An error of reading is a `ConnectionError` or the reason of the signal. */
function toStream(response: Response, signal: AbortSignal | undefined): ReadableStream<FileBytes> {
  let reader: ReadableStreamDefaultReader<FileBytes> | undefined;
  const start = () => {
    reader ??= (response.body ?? new Blob([]).stream()).getReader();
    return reader;
  };
  return new ReadableStream<FileBytes>(
    {
      async pull(controller) {
        try {
          const { done, value } = await start().read();
          if (done) controller.close();
          else controller.enqueue(value);
        } catch (cause) {
          if (signal?.aborted) throw signal.reason;
          throw new ConnectionError('The connection broke before the file was complete. Request it again.', {
            cause,
          });
        }
      },
      cancel: (reason) => start().cancel(reason),
    },
    // reads nothing ahead: the response stays unlocked until then, so Node can close its connection if nobody reads
    { highWaterMark: 0 },
  );
}

/** Returns a response whose methods read the stream. Throws a `TypeError` if it has been or is being read. */
function toUnread(stream: ReadableStream<FileBytes>): Response {
  try {
    return new Response(stream);
  } catch (cause) {
    throw new TypeError('The content of a download can be read once. Keep it, or request the file again.', {
      cause,
    });
  }
}

/** The file name of a `Content-Disposition` header (RFC 6266), without folders; undefined if it is not safe. */
export function parseFileName(header: string): string | undefined {
  // one pattern for all parameters: a quoted value may contain what looks like another parameter
  const pattern = /;\s*([\w*-]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;"]+))/g;
  const parameters = new Map<string, string>();
  for (const [, key = '', quoted, plain = ''] of header.matchAll(pattern)) {
    const name = key.toLowerCase();
    if (!parameters.has(name)) parameters.set(name, quoted?.replaceAll(/\\(.)/g, '$1') ?? plain);
  }
  const extended = /^utf-8'[^']*'(.+)/i.exec(parameters.get('filename*') ?? '')?.[1];
  const name = (extended && decode(extended)) ?? parameters.get('filename');
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
