/** What a handler may ask of its request, and say of it to the security log. */
import type { Request } from 'express';
import { namesTag, strongTags } from './etag.ts';
import type { Call, Facts } from './handle.ts';

/** What is gathered while a request is answered. */
export interface Trail {
  /** Of the last run of the handler: an earlier one came to nothing. */
  facts: Facts;
  replayed: boolean;
}

/** What a request says beside its parameters and body; notes go to the trail. */
export function callOf(request: Request, requestId: string, trail: Trail): Call {
  const ifMatch = strongTags(request.get('if-match'));
  return {
    requestId,
    address: request.ip ?? '',
    // few operations ask, and most who ask are programs that say nothing
    get prefersHtml() {
      const { accept = '*/*' } = request.headers;
      return accept !== '*/*' && request.accepts(['application/json', 'text/html']) === 'text/html';
    },
    has: (etag) => namesTag(request.headers['if-none-match'], etag),
    note(facts) {
      trail.facts = { ...trail.facts, ...facts };
    },
    ...(ifMatch && { ifMatch }),
  };
}
