/** The information about a request that a handler can read, and the audit details it can add. */
import type { Request, Response } from 'express';
import { parseBasicPassword, parseCookies } from './credentials.ts';
import { matchesEtag, parseIfMatch } from './etag.ts';
import type { AuditDetails, RequestInfo } from './handle.ts';

/** What is recorded while a request is handled. */
export interface RequestNotes {
  /**
   * Details for the security log. If a transaction runs the handler again, later values replace earlier ones.
   */
  details: AuditDetails;
  replayed: boolean;
}

/** Returns notes without any entry. */
export function createNotes(): RequestNotes {
  return { details: {}, replayed: false };
}

/** Returns the id of the request that a response belongs to. */
export function getRequestId(response: Response): string {
  return String(response.getHeader('X-Request-Id'));
}

/** Creates the `RequestInfo` of a request. `audit` adds to `notes`. */
export function createRequestInfo(request: Request, requestId: string, notes: RequestNotes): RequestInfo {
  return new ExpressRequestInfo(request, requestId, notes);
}

/**
 * A class, because an object literal with a getter gets its own hidden class, which keeps the request alive
 * (docs/adr/0023).
 */
class ExpressRequestInfo implements RequestInfo {
  readonly requestId: string;
  readonly address: string;
  readonly ifMatch?: readonly string[];
  readonly #request: Request;
  readonly #notes: RequestNotes;

  constructor(request: Request, requestId: string, notes: RequestNotes) {
    const ifMatch = parseIfMatch(request.headers['if-match']);
    this.requestId = requestId;
    this.address = request.ip ?? '';
    if (ifMatch) this.ifMatch = ifMatch;
    this.#request = request;
    this.#notes = notes;
  }

  // computed on demand: few operations need it, and most clients send `*/*`
  get prefersHtml() {
    const { accept = '*/*' } = this.#request.headers;
    return accept !== '*/*' && this.#request.accepts(['application/json', 'text/html']) === 'text/html';
  }

  get acceptsGzip() {
    const { 'accept-encoding': accepted = '' } = this.#request.headers;
    return accepted !== '' && this.#request.acceptsEncodings('gzip') === 'gzip';
  }

  get basicPassword() {
    return parseBasicPassword(this.#request.headers.authorization);
  }

  get signal() {
    const controller = new AbortController();
    const response = this.#request.res;
    if (!response || response.closed) controller.abort();
    response?.once('close', () => controller.abort());
    return controller.signal;
  }

  hasCurrent(etag: string) {
    return matchesEtag(this.#request.headers['if-none-match'], etag);
  }

  getCookies(name: string) {
    return parseCookies(this.#request.headers.cookie, name);
  }

  audit(details: AuditDetails) {
    this.#notes.details = { ...this.#notes.details, ...details };
  }
}
