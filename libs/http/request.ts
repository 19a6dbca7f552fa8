/** Reads a request: path, query and body become what the operation's shapes say, or problems. */
import type { Request, Response } from 'express';
import express from 'express';
import {
  type AnyOperation,
  InvalidRequest,
  isConditional,
  MalformedJson,
  NotFound,
  PayloadTooLarge,
  UnsupportedMediaType,
} from '#libs/contract';
import { checkShape, type Fault } from './error-messages.ts';
import { isTagList } from './etag.ts';
import { formatBytes } from './format-bytes.ts';
import { readMultipart } from './multipart.ts';
import { readQuery } from './query-parameters.ts';

const standardBodyBytes = 1024 * 1024;

/** The content encodings that a JSON body may have. */
const encodings = 'gzip, deflate, br';

/** A request that fits its operation. */
export interface Parsed {
  params: unknown;
  query: unknown;
  body: unknown;
  /** The body's bytes in a canonical form, to recognise a repeated request. */
  fingerprint: Uint8Array | string;
}

/** Parses all of a request; all mistakes of its form at once. An ill-formed id in the path is `NotFound`. */
export async function parseRequest(
  operation: AnyOperation,
  request: Request,
  response: Response,
): Promise<Parsed> {
  const faults: Fault[] = [];
  const query = readQuery(operation, request.query, faults);
  checkIfMatch(operation, request, faults);
  const body = await readBody(operation, request, response, faults);
  if (faults.length > 0) throw InvalidRequest(undefined, { extra: { errors: faults } });
  const params = operation.params?.safeParse(request.params);
  if (params && !params.success) throw NotFound();
  return { params: params?.data ?? {}, query: query ?? {}, body: body.value, fingerprint: body.fingerprint };
}

function checkIfMatch(operation: AnyOperation, request: Request, faults: Fault[]): void {
  const header = request.headers['if-match'];
  if (header === undefined || isTagList(header) || !isConditional(operation)) return;
  faults.push({ path: 'header/If-Match', message: 'Put the ETag in quotes, such as "7"' });
}

async function readBody(operation: AnyOperation, request: Request, response: Response, faults: Fault[]) {
  const shape = operation.body;
  if (!shape) return { value: undefined, fingerprint: '' };
  if ('file' in shape) {
    const { fields, file, fingerprint } = await readMultipart(request, shape, faults);
    return { value: { fields: checkShape(shape.fields, fields, 'body', faults), file }, fingerprint };
  }
  const bytes = await readBytes(request, response, operation.maxBodyBytes ?? standardBodyBytes);
  if (bytes && !request.is(['application/json', '+json'])) throw notJson();
  return {
    value: checkShape(shape, bytes ? parseJson(bytes) : undefined, 'body', faults),
    fingerprint: bytes ?? '',
  };
}

/** The body's bytes, unzipped; nothing when there is none. */
function readBytes(request: Request, response: Response, limit: number): Promise<Uint8Array | undefined> {
  const read = express.raw({ type: () => true, limit });
  return new Promise((resolve, reject) => {
    read(request, response, (error?: unknown) => {
      if (error) reject(bodyProblem(error, limit));
      else resolve(Buffer.isBuffer(request.body) && request.body.length > 0 ? request.body : undefined);
    });
  });
}

function bodyProblem(error: unknown, limit: number): unknown {
  const type = typeof error === 'object' && error !== null && 'type' in error ? error.type : undefined;
  if (type === 'entity.too.large') return tooLarge(limit);
  if (type === 'encoding.unsupported') return unknownEncoding();
  return MalformedJson('The body could not be read.');
}

function notJson() {
  return UnsupportedMediaType('Send the body as `Content-Type: application/json`, in UTF-8.', {
    headers: { Accept: 'application/json' },
  });
}

function unknownEncoding() {
  return UnsupportedMediaType(`Send the body without Content-Encoding, or with one of: ${encodings}.`, {
    headers: { 'Accept-Encoding': encodings },
  });
}

function tooLarge(limit: number) {
  return PayloadTooLarge(`The body is larger than ${formatBytes(limit)}.`, { extra: { limit_bytes: limit } });
}

function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    throw MalformedJson();
  }
}
