/** Parses a request: validates path, query and body with the schemas of the operation. */
import { createHash } from 'node:crypto';
import type { Request, Response } from 'express';
import type { z } from 'zod';
import {
  type AnyOperation,
  addError,
  checkShape,
  createInputErrors,
  type FormBody,
  type InputErrors,
  InvalidRequest,
  isConditional,
  listErrors,
  MalformedJson,
  type Multipart,
  NotFound,
  UnsupportedMediaType,
} from '#libs/contract';
import {
  anonymousBodyBytes,
  type BodyBudget,
  type BodyClient,
  type BodyLease,
  smallBodyBytes,
  toBodyClients,
} from './body-budget.ts';
import type { BodyParser } from './body-parser.ts';
import { readBytes } from './body-reader.ts';
import { isTagList } from './etag.ts';
import { parseForm } from './form.ts';
import type { Principal } from './handle.ts';
import { readMultipart } from './multipart.ts';
import { readQuery } from './query-parameters.ts';

/** A request that was parsed and validated. */
export interface ParsedRequest {
  params: unknown;
  query: unknown;
  body: unknown;
  /** A hash of the body, to recognize a repeated request. */
  fingerprint: string;
}

/** What all requests of a process share to read bodies. */
export interface BodyReading {
  budget: BodyBudget;
  parser: BodyParser;
}

/** What parsing a request needs. */
export interface ParseOptions {
  bodies: BodyReading;
  /** The caller, if the operation is authenticated. */
  principal: Principal | undefined;
  /** The client's IP address. */
  address: string;
  /** Called with the path parameters before a body is read. Rejects if it need not be read. */
  beforeBody(params: unknown, isLarge: boolean): Promise<void>;
}

/**
 * Parses a request. Throws `InvalidRequest` with the validation errors, and `NotFound` if an id in the path
 * is malformed.
 */
export async function parseRequest(
  operation: AnyOperation,
  request: Request,
  response: Response,
  { bodies, principal, address, beforeBody }: ParseOptions,
): Promise<ParsedRequest> {
  const errors = createInputErrors();
  const query = readQuery(operation, request, errors);
  checkIfMatch(operation, request, errors);
  const params = operation.params?.safeParse(request.params);
  if (operation.body && params?.success !== false)
    await beforeBody(params?.data ?? {}, isLarge(operation, request));
  const clients = operation.body ? toBodyClients(principal, address) : [];
  const body = await readBody(operation, request, response, { ...bodies, clients }, errors);
  if (errors.total > 0) throw listErrors(InvalidRequest, errors.listed, errors.total);
  if (params && !params.success) throw NotFound();
  return { params: params?.data ?? {}, query: query ?? {}, body: body.value, fingerprint: body.fingerprint };
}

function checkIfMatch(operation: AnyOperation, request: Request, errors: InputErrors): void {
  const header = request.headers['if-match'];
  if (header === undefined || isTagList(header) || !isConditional(operation)) return;
  addError(errors, { path: 'header/If-Match', message: 'Put the ETag in quotes, such as "7"' });
}

/** Returns whether the body is above 1 MiB, or can become so, because its length is not known yet. */
function isLarge(operation: AnyOperation, { headers }: Request): boolean {
  const isKnown = !headers['transfer-encoding'] && !headers['content-encoding'];
  const length = isKnown ? Number(headers['content-length'] ?? 0) : getMaxBytes(operation);
  return length > smallBodyBytes;
}

function getMaxBytes({ body, maxBodyBytes, access }: AnyOperation): number {
  if (body && 'file' in body) return body.maxFileBytes;
  return maxBodyBytes ?? (access.authenticated ? smallBodyBytes : anonymousBodyBytes);
}

/** A parsed body and its fingerprint. */
type ReadBody = Pick<ParsedRequest, 'fingerprint'> & { value: unknown };

async function readBody(
  operation: AnyOperation,
  request: Request,
  response: Response,
  { budget, parser, clients }: BodyReading & { clients: readonly BodyClient[] },
  errors: InputErrors,
): Promise<ReadBody> {
  const shape = operation.body;
  if (!shape) return { value: undefined, fingerprint: '' };
  const part = operation.access.authenticated ? 'small' : 'anonymous';
  const lease = budget(isLarge(operation, request) ? 'large' : part, clients);
  response.once('close', lease.release);
  // the client has disconnected, so that there is no event
  if (response.closed) lease.release();
  try {
    if ('file' in shape) return await readUpload(shape, request, lease, errors);
    if ('form' in shape) return await readForm(operation, shape, request, lease, errors);
    return await readJson(operation, shape, request, lease, { parser, client: clients[0]?.id ?? '' }, errors);
  } catch (error) {
    // the response closes later, when the rest of the body was discarded
    lease.release();
    throw error;
  }
}

async function readUpload(
  shape: Multipart,
  request: Request,
  lease: BodyLease,
  errors: InputErrors,
): Promise<ReadBody> {
  const { fields, file, fingerprint } = await readMultipart(request, shape, lease, errors);
  return { value: { fields: checkShape(shape.fields, fields, 'body', errors), file }, fingerprint };
}

async function readForm(
  operation: AnyOperation,
  shape: FormBody,
  request: Request,
  lease: BodyLease,
  errors: InputErrors,
): Promise<ReadBody> {
  const bytes = await readBytes(request, getMaxBytes(operation), lease);
  if (!request.is(formType)) throw unsupportedMediaType(formType);
  const fingerprint = createHash('sha256').update(bytes).digest('base64url');
  return { value: parseForm(shape, bytes, errors), fingerprint };
}

async function readJson(
  operation: AnyOperation,
  shape: z.ZodType,
  request: Request,
  lease: BodyLease,
  { parser, client }: { parser: BodyParser; client: string },
  errors: InputErrors,
): Promise<ReadBody> {
  const bytes = await readBytes(request, getMaxBytes(operation), lease);
  if (bytes.length > 0 && !request.is(['application/json', '+json']))
    throw unsupportedMediaType('application/json');
  const body = await parser.parse(operation.id, shape, bytes, client);
  if (body.malformed) throw MalformedJson(body.malformed.reason);
  for (const error of body.errors.listed) addError(errors, error);
  errors.total += body.errors.total - body.errors.listed.length;
  return { value: body.value, fingerprint: body.hash };
}

const formType = 'application/x-www-form-urlencoded';

function unsupportedMediaType(type: string) {
  return UnsupportedMediaType(`Send the body as \`Content-Type: ${type}\`, in UTF-8.`, {
    headers: { Accept: type },
  });
}
