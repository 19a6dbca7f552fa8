/** CORS preflight requests: browsers send them before a cross-origin request that is not a simple one. */
import type { RequestHandler } from 'express';
import { type AnyOperation, hasEtag } from '#libs/contract';

/** How long a browser caches the preflight response, in seconds. */
const maxAgeSeconds = 86_400;

/**
 * Creates the handler for OPTIONS of a cross-origin operation. It returns 204 with the methods and headers that other
 * origins may send. `allow` has all methods of the path.
 */
export function answerPreflight(operation: AnyOperation, allow: string): RequestHandler {
  const methods = operation.method === 'get' ? 'GET, HEAD' : operation.method.toUpperCase();
  const headers = {
    Allow: allow,
    'Access-Control-Allow-Origin': '*',
    'Access-Control-Allow-Methods': methods,
    ...(hasEtag(operation) && { 'Access-Control-Allow-Headers': 'If-None-Match' }),
    'Access-Control-Max-Age': String(maxAgeSeconds),
  };
  return (_request, response) => {
    response.status(204).set(headers).end();
  };
}
