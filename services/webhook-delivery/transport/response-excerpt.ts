/** Reads the beginning of a response for the event log, and discards the rest. */
import { isUtf8 } from 'node:buffer';
import type { Dispatcher } from 'undici';
import { maxExcerptBytes, type WebhookResponse } from '../shapes.ts';

/** A longer body is not read to its end: its connection is closed. */
const maxBodyBytes = 16 * 1024;
/** Other headers may contain credentials, such as cookies. */
const loggedHeaders = ['content-type', 'location', 'retry-after', 'server', 'x-request-id'];
const maxHeaderLength = 200;
/** A UTF-8 character has at most four bytes, so an excerpt may end with three bytes of a cut one. */
const maxCutBytes = 3;

/** Reads a response to its end, to 16 KiB or until the signal aborts. Returns its first KiB. Never rejects. */
export async function readExcerpt(
  { headers, body }: Pick<Dispatcher.ResponseData, 'headers' | 'body'>,
  signal: AbortSignal,
): Promise<WebhookResponse> {
  const { bytes, truncated } = await readBeginning(body, signal);
  const shown = loggedHeaders
    .filter((name) => headers[name] !== undefined)
    .map((name) => [name, String(headers[name]).slice(0, maxHeaderLength)]);
  return { headers: Object.fromEntries(shown), ...decode(bytes, truncated), truncated };
}

function readBeginning(
  body: Dispatcher.ResponseData['body'],
  signal: AbortSignal,
): Promise<{ bytes: Buffer; truncated: boolean }> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let size = 0;
    let hasEnded = false;
    const abort = () => body.destroy();
    const finish = () => {
      signal.removeEventListener('abort', abort);
      const bytes = Buffer.concat(chunks).subarray(0, maxExcerptBytes);
      resolve({ bytes, truncated: !hasEnded || size > bytes.length });
    };
    if (body.closed) return finish();
    body
      .on('data', (chunk: Buffer) => {
        if (size < maxExcerptBytes) chunks.push(chunk);
        size += chunk.length;
        if (size > maxBodyBytes) body.destroy();
      })
      .on('end', () => {
        hasEnded = true;
      })
      // the status has decided the outcome: a body that breaks off is logged as far as it arrived
      .on('error', () => undefined)
      .on('close', finish);
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort, { once: true });
  });
}

/** Decodes UTF-8. Other bytes are kept as base64, so that nothing is lost and every body is valid JSON. */
function decode(bytes: Buffer, truncated: boolean): Pick<WebhookResponse, 'body' | 'encoding'> {
  for (let cut = 0; cut <= (truncated ? maxCutBytes : 0); cut += 1) {
    const text = bytes.subarray(0, bytes.length - cut);
    if (isUtf8(text)) return { body: text.toString('utf8'), encoding: 'utf-8' };
  }
  return { body: bytes.toString('base64'), encoding: 'base64' };
}
