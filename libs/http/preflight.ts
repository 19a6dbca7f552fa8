/**
 * Preflight requests: what a browser asks before a page of another origin sends more than a simple request
 * (CORS).
 */
import type { RequestHandler } from 'express';
import { type AnyOperation, hasEtag } from '#libs/contract';

/** How long a browser remembers the answer, seconds. */
const maxAgeSeconds = 86_400;

/** Answers OPTIONS for an operation that pages of any origin may call: 204 with its methods and headers. */
export function answerPreflight(operation: AnyOperation): RequestHandler {
  const methods = operation.method === 'get' ? 'GET, HEAD' : operation.method.toUpperCase();
  const headers = {
    Allow: `${methods}, OPTIONS`,
    'Access-Control-Allow-Origin': '*',
    'Access-Control-Allow-Methods': methods,
    ...(hasEtag(operation) && { 'Access-Control-Allow-Headers': 'If-None-Match' }),
    'Access-Control-Max-Age': String(maxAgeSeconds),
  };
  return (_request, response) => {
    response.status(204).set(headers).end();
  };
}
