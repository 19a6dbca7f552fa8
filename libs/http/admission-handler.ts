/** Admits requests to an application, or rejects them because of overload, before any other work. */
import type { IncomingMessage, RequestListener } from 'node:http';
import { type AnyOperation, deprecationHeaders, Unavailable } from '#libs/contract';
import type { Admission, RequestProgress } from './admission.ts';
import type { Route } from './handle.ts';
import { sendProblem } from './responses.ts';

/** What decides about requests. */
export interface AdmissionOptions {
  admission: Admission;
  /** Called for each rejected request, with its operation if it has one. */
  onOverload(operation: AnyOperation | undefined): void;
}

/** Created once: most of the cost of an error is its stack trace, and an overloaded process rejects many requests. */
export const overloadProblem = Unavailable(
  'The service is overloaded. Nothing was changed. Try again after the time in `Retry-After`.',
  { headers: { 'Retry-After': '1' } },
);

const progressOf = new WeakMap<IncomingMessage, RequestProgress>();
const rejected = new WeakSet<IncomingMessage>();

/** Returns the progress of a request, once: the caller must end it. `undefined` without admission control. */
export function takeProgress(request: IncomingMessage): RequestProgress | undefined {
  const progress = progressOf.get(request);
  progressOf.delete(request);
  return progress;
}

/** Returns whether the response of a request must be the page for `overloadProblem`. */
export function isRejected(request: IncomingMessage): boolean {
  return rejected.has(request);
}

/**
 * Returns a listener that passes a request to `app` when it is admitted. If it is rejected and its route has problem
 * pages, `app` sends one. The listener sends other rejections itself, for less time than Express needs.
 */
export function admitRequests(
  app: RequestListener,
  findRoutes: (path: string) => readonly Route[],
  { admission, onOverload }: AdmissionOptions,
): RequestListener {
  return async (request, response) => {
    const progress = await admission.admit(request.socket);
    // nobody waits for the response, and the address of the client is no longer known
    if (response.closed) return progress?.pause();
    if (progress) {
      progressOf.set(request, progress);
      // if no operation has taken the progress, e.g. that of a preflight
      response.once('close', () => takeProgress(request)?.pause());
      app(request, response);
      return;
    }
    const [path = ''] = (request.url ?? '').split(/[?#]/, 1);
    const method = request.method === 'HEAD' ? 'get' : request.method?.toLowerCase();
    const route = findRoutes(path).find(({ operation }) => operation.method === method);
    onOverload(route?.operation);
    if (route?.problemPage) {
      rejected.add(request);
      app(request, response);
      return;
    }
    if (route) response.setHeaders(new Map(Object.entries(deprecationHeaders(route.operation))));
    sendProblem(response, overloadProblem);
  };
}
