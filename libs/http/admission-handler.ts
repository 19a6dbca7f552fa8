/** Admits requests to an application, or rejects them because of overload, before any other work. */
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { type AnyOperation, deprecationHeaders, Unavailable } from '#libs/contract';
import type { Admission, RequestProgress } from './admission.ts';
import type { Route } from './handle.ts';
import { sendProblem } from './responses.ts';
import { createRouteFinder } from './route-finder.ts';

/** What decides about requests. */
export interface AdmissionOptions {
  admission: Admission;
  routes: readonly Route[];
  /** Called for each rejected request, with its operation if it has one. */
  onOverload(operation: AnyOperation | undefined): void;
}

/** What the responses of rejected requests need. */
interface RejectionOptions {
  /** Prefix of all API paths, e.g. `/api/v1`. */
  apiPrefix: string;
  /** Adds the headers that all responses have. */
  addHeaders(request: IncomingMessage, response: ServerResponse): void;
}

/** Created once: most of the cost of an error is its stack trace, and an overloaded process rejects many requests. */
export const overloadProblem = Unavailable(
  'The service is overloaded. Nothing was changed. Try again after the time in `Retry-After`.',
  { headers: { 'Retry-After': '1' } },
);

const progressOf = new WeakMap<IncomingMessage, RequestProgress | 'rejected'>();

/**
 * Returns the progress of a request, or `rejected` if the response must be `overloadProblem`. Returns `undefined` if
 * there is no admission control.
 */
export function getProgress(request: IncomingMessage): RequestProgress | 'rejected' | undefined {
  return progressOf.get(request);
}

/** Stops counting a request that ends outside of its operation. */
export function endProgress(request: IncomingMessage): void {
  const progress = progressOf.get(request);
  if (typeof progress === 'object') progress.pause();
}

/**
 * Returns a listener that passes a request to `app` when it is admitted. If it is rejected and a browser may need a
 * page, `app` sends it. The listener sends other rejections itself, for less time than Express needs. The target of a
 * request begins with its path.
 */
export function admitRequests(
  app: RequestListener,
  { admission, routes, onOverload, apiPrefix, addHeaders }: AdmissionOptions & RejectionOptions,
): RequestListener {
  const findRoute = createRouteFinder(routes, apiPrefix);
  return async (request, response) => {
    const progress = await admission.admit(request.socket);
    // nobody waits for the answer, and the socket has lost its address
    if (response.closed) return progress?.pause();
    if (progress) {
      progressOf.set(request, progress);
      app(request, response);
      return;
    }
    const [path = ''] = /^[^?#]*/.exec(request.url ?? '') ?? [];
    const route = findRoute(request.method ?? '', path);
    onOverload(route?.operation);
    if (route?.problemPage) {
      progressOf.set(request, 'rejected');
      app(request, response);
      return;
    }
    addHeaders(request, response);
    if (route) response.setHeaders(new Map(Object.entries(deprecationHeaders(route.operation))));
    sendProblem(response, overloadProblem);
  };
}
