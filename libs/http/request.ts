/** Parses a request: validates path, query and body with the schemas of the operation. */
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
import { checkShape, type InputError } from './error-messages.ts';
import { isTagList } from './etag.ts';
import { formatBytes } from './format-bytes.ts';
import { readMultipart } from './multipart.ts';
import { readQuery } from './query-parameters.ts';

const standardBodyBytes = 1024 * 1024;

/** The supported content encodings of a JSON body. */
const supportedEncodings = 'gzip, deflate, br';

/** A request that was parsed and validated. */
export interface ParsedRequest {
  params: unknown;
  query: unknown;
  body: unknown;
  /** The bytes or a hash of the body, to recognize a repeated request. */
  fingerprint: Uint8Array | string;
}

/**
 * Parses a request. Throws `InvalidRequest` with all validation errors, and `NotFound` if an id in the path
 * is malformed.
 */
export async function parseRequest(
  operation: AnyOperation,
  request: Request,
  response: Response,
): Promise<ParsedRequest> {
  const errors: InputError[] = [];
  const query = readQuery(operation, request.query, errors);
  checkIfMatch(operation, request, errors);
  const body = await readBody(operation, request, response, errors);
  if (errors.length > 0) throw InvalidRequest(undefined, { extra: { errors } });
  const params = operation.params?.safeParse(request.params);
  if (params && !params.success) throw NotFound();
  return { params: params?.data ?? {}, query: query ?? {}, body: body.value, fingerprint: body.fingerprint };
}

function checkIfMatch(operation: AnyOperation, request: Request, errors: InputError[]): void {
  const header = request.headers['if-match'];
  if (header === undefined || isTagList(header) || !isConditional(operation)) return;
  errors.push({ path: 'header/If-Match', message: 'Put the ETag in quotes, such as "7"' });
}

async function readBody(operation: AnyOperation, request: Request, response: Response, errors: InputError[]) {
  const shape = operation.body;
  if (!shape) return { value: undefined, fingerprint: '' };
  if ('file' in shape) {
    const { fields, file, fingerprint } = await readMultipart(request, shape, errors);
    return { value: { fields: checkShape(shape.fields, fields, 'body', errors), file }, fingerprint };
  }
  const bytes = await readBytes(request, response, operation.maxBodyBytes ?? standardBodyBytes);
  if (bytes && !request.is(['application/json', '+json'])) throw unsupportedMediaType();
  return {
    value: checkShape(shape, bytes ? parseJson(bytes) : undefined, 'body', errors),
    fingerprint: bytes ?? '',
  };
}

/** Reads and decompresses the body. Returns `undefined` if it is empty. */
function readBytes(request: Request, response: Response, limit: number): Promise<Uint8Array | undefined> {
  const read = express.raw({ type: () => true, limit });
  return new Promise((resolve, reject) => {
    read(request, response, (error?: unknown) => {
      if (error) reject(toBodyProblem(error, limit));
      else resolve(Buffer.isBuffer(request.body) && request.body.length > 0 ? request.body : undefined);
    });
  });
}

function toBodyProblem(error: unknown, limit: number): unknown {
  const type = typeof error === 'object' && error !== null && 'type' in error ? error.type : undefined;
  if (type === 'entity.too.large') return bodyTooLarge(limit);
  if (type === 'encoding.unsupported') return unsupportedEncoding();
  return MalformedJson('The body could not be read.');
}

function unsupportedMediaType() {
  return UnsupportedMediaType('Send the body as `Content-Type: application/json`, in UTF-8.', {
    headers: { Accept: 'application/json' },
  });
}

function unsupportedEncoding() {
  return UnsupportedMediaType(
    `Send the body without Content-Encoding, or with one of: ${supportedEncodings}.`,
    {
      headers: { 'Accept-Encoding': supportedEncodings },
    },
  );
}

function bodyTooLarge(limit: number) {
  return PayloadTooLarge(`The body is larger than ${formatBytes(limit)}.`, { extra: { limit_bytes: limit } });
}

function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    throw MalformedJson();
  }
}
