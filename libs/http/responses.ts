/** Renders and sends responses and problems. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Request, Response } from 'express';
import {
  Body,
  Internal,
  Json,
  OutcomeUnknown,
  Problem,
  type ProblemKind,
  Unauthenticated,
  Unavailable,
} from '#libs/contract';
import { isAborted, isCommitUnknown, isContention, isTooLargeForCache, isUnavailable } from '#libs/store';
import { endResponse } from './early-response.ts';
import { matchesEtag } from './etag.ts';
import { type ProblemPage, type ReplayKey, Reply } from './handle.ts';

/** A rendered response, ready to be sent or stored. */
export interface Rendered {
  status: number;
  headers: Record<string, string>;
  body: string | Uint8Array | Readable | undefined;
  /** Whether shared caches must not store the response. */
  isPrivate?: boolean;
  /** The ids from which `replay` can render the response again, if it can. */
  replayKey?: ReplayKey;
}

/** Renders the result of a handler. `sealCursor` seals the cursor of the next page. */
export function render(
  status: number,
  result: unknown,
  request: Request,
  sealCursor: (cursor: string) => string,
): Rendered {
  const reply = result instanceof Reply ? result : new Reply(result, {});
  const { value, etag, next, headers, isPrivate, replayKey } = reply;
  const all: Record<string, string> = { ...headers };
  if (etag !== undefined) all.ETag = `"${etag}"`;
  if (next !== undefined) all.Link = `<${toNextUrl(request, sealCursor(next))}>; rel="next"`;
  if (value === undefined) return { status, headers: all, body: undefined, isPrivate };
  if (value instanceof Body)
    return { status, headers: { 'Content-Type': value.type, ...all }, body: value.content, isPrivate };
  const body = value instanceof Json ? value.text : JSON.stringify(value);
  return {
    status,
    headers: { 'Content-Type': 'application/json', ...all },
    body,
    isPrivate,
    ...(replayKey && { replayKey }),
  };
}

/** Sends a rendered response, or 304 if the client already has it. A streamed body is destroyed in any case. */
export async function send(request: Request, response: Response, rendered: Rendered): Promise<void> {
  try {
    await sendRendered(request, response, rendered);
  } finally {
    if (rendered.body instanceof Readable) rendered.body.destroy();
  }
}

async function sendRendered(
  request: Request,
  response: Response,
  { status, headers, body }: Rendered,
): Promise<void> {
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  const etag = headers.ETag;
  const isHead = request.method === 'HEAD';
  const isRead = isHead || request.method === 'GET';
  if (isRead && etag && matchesEtag(request.headers['if-none-match'], etag.slice(1, -1))) {
    response.removeHeader('Content-Type');
    response.status(304).end();
    return;
  }
  response.status(status);
  if (body instanceof Readable) {
    if (isHead) response.end();
    else await sendStream(response, body);
    return;
  }
  if (body !== undefined) response.setHeader('Content-Length', Buffer.byteLength(body));
  response.end(isHead ? undefined : body);
}

/** Sends a stream. A client that disconnects, before or during it, is not an error; a stream that fails is. */
async function sendStream(response: Response, body: Readable): Promise<void> {
  if (response.destroyed) return;
  await pipeline(body, response).catch((error: unknown) => {
    if (!isPrematureClose(error)) throw error;
  });
}

/**
 * Converts an error to the problem for the caller. An unknown error becomes `Internal`. `mayHaveWritten` says whether
 * the request may have sent a write without a transaction: MongoDB may have made a change that it did not confirm.
 */
export function toProblem(error: unknown, { mayHaveWritten = false } = {}): Problem {
  if (error instanceof Problem) return error;
  if (isCommitUnknown(error)) return OutcomeUnknown();
  if (mayHaveWritten && isUnavailable(error) && !isAborted(error)) return OutcomeUnknown();
  if (isContention(error)) return Unavailable(contentionDetail, { headers: { 'Retry-After': '1' } });
  if (isTooLargeForCache(error)) return Unavailable(cacheDetail, { headers: { 'Retry-After': '10' } });
  if (isUnavailable(error)) return Unavailable(undefined, { headers: { 'Retry-After': '2' } });
  return Internal();
}

const contentionDetail =
  'Too many requests are changing the same resource. Nothing was changed. Try again after the time in `Retry-After`.';

const cacheDetail =
  'The change is too large for the database at the moment. Nothing was changed. Try again after the time in `Retry-After`.';

const maxErrorPaths = 20;

/**
 * A plausible field name. Longer or unusual names come from the caller and may contain a value, so they are
 * not logged.
 */
const fieldName = /^[\w.-]{1,40}$/;

/** Returns the paths of a problem's `errors` for the log, without their messages. At most 20 paths. */
export function getErrorPaths({ extra }: Problem): { errorPaths?: string[] } {
  const { errors } = extra;
  if (!Array.isArray(errors)) return {};
  return { errorPaths: errors.slice(0, maxErrorPaths).map(({ path }) => toLoggedPath(String(path))) };
}

function toLoggedPath(path: string): string {
  const names = path.split('/').slice(0, 12);
  return names.map((name) => (fieldName.test(name) ? name : '*')).join('/');
}

/**
 * Sends a problem (RFC 9457), or the HTML page for it. If the response has already started, closes the
 * connection.
 */
export function sendProblem(
  response: ServerResponse,
  problem: Problem,
  page?: ReturnType<ProblemPage>,
): void {
  const { kind, headers } = problem;
  if (response.headersSent) {
    response.destroy();
    return;
  }
  response.setHeader('Cache-Control', 'no-store');
  if (kind.status === 401) response.setHeader('WWW-Authenticate', getChallenge(kind, response.req));
  for (const [name, value] of Object.entries({ ...headers, ...page?.headers }))
    response.setHeader(name, value);
  const body = page?.html ?? toProblemBody(problem, String(response.getHeader('X-Request-Id') ?? ''));
  response.statusCode = kind.status;
  response.setHeader('Content-Type', page ? 'text/html; charset=utf-8' : 'application/problem+json');
  response.setHeader('Content-Length', Buffer.byteLength(body));
  endResponse(response, response.req.method === 'HEAD' ? undefined : body);
}

/** Returns the JSON of a problem (RFC 9457). */
export function toProblemBody({ kind, message, extra }: Problem, requestId: string): string {
  const { code, status, title } = kind;
  const members = {
    type: `urn:problem:${code}`,
    title,
    status,
    detail: message,
    code,
    request_id: requestId,
  };
  return JSON.stringify({ ...members, ...extra });
}

/**
 * Returns the default `WWW-Authenticate` challenge of a 401. If the request had a credential, the challenge says
 * that it is no longer valid (RFC 6750).
 */
function getChallenge(kind: ProblemKind, { headers }: IncomingMessage): string {
  const wasSent = kind === Unauthenticated && headers.authorization !== undefined;
  return wasSent ? 'Bearer error="invalid_token"' : 'Bearer';
}

function isPrematureClose(error: unknown): boolean {
  return (
    typeof error === 'object' &&
    error !== null &&
    'code' in error &&
    error.code === 'ERR_STREAM_PREMATURE_CLOSE'
  );
}

function toNextUrl(request: Request, cursor: string): string {
  const url = new URL(request.originalUrl, 'http://host');
  url.searchParams.set('cursor', cursor);
  return url.pathname + url.search;
}
