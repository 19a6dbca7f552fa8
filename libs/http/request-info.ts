/** What a handler may ask of its request, and say of it to the security log. */
import type { Request } from 'express';
import { matchesEtag, parseIfMatch } from './etag.ts';
import type { AuditDetails, RequestInfo } from './handle.ts';

/** What is gathered while a request is answered. */
export interface RequestNotes {
  /** Of the last run of the handler: an earlier one came to nothing. */
  details: AuditDetails;
  replayed: boolean;
}

/** What a request says beside its parameters and body; notes go to the trail. */
export function createRequestInfo(request: Request, requestId: string, trail: RequestNotes): RequestInfo {
  return new ExpressRequestInfo(request, requestId, trail);
}

/**
 * A class, because a getter in an object literal gives each object a shape of its own, which keeps its
 * request alive: docs/adr/0023.
 */
class ExpressRequestInfo implements RequestInfo {
  readonly requestId: string;
  readonly address: string;
  readonly ifMatch?: readonly string[];
  readonly #request: Request;
  readonly #trail: RequestNotes;

  constructor(request: Request, requestId: string, trail: RequestNotes) {
    const ifMatch = parseIfMatch(request.headers['if-match']);
    this.requestId = requestId;
    this.address = request.ip ?? '';
    if (ifMatch) this.ifMatch = ifMatch;
    this.#request = request;
    this.#trail = trail;
  }

  // few operations ask, and most who ask are programs that say nothing
  get prefersHtml() {
    const { accept = '*/*' } = this.#request.headers;
    return accept !== '*/*' && this.#request.accepts(['application/json', 'text/html']) === 'text/html';
  }

  hasCurrent(etag: string) {
    return matchesEtag(this.#request.headers['if-none-match'], etag);
  }

  audit(details: AuditDetails) {
    this.#trail.details = { ...this.#trail.details, ...details };
  }
}
