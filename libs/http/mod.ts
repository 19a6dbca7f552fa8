/** Public interface of the HTTP library: turns operations and their handlers into Express routes. */

export { type Admission, type AdmissionLimits, createAdmission } from './admission.ts';
export { createBodyBudget } from './body-budget.ts';
export { createBodyParser } from './body-parser.ts';
export { createBoundedCache } from './bounded-cache.ts';
export type { Authenticate } from './credentials.ts';
export { toCsvLine } from './csv.ts';
export type { CursorKeyring } from './cursors.ts';
export { BadGateway, type GatewayOptions, gateway } from './gateway.ts';
export {
  type AuditDetails,
  type HandlerInput,
  handle,
  type Principal,
  type ProblemPage,
  type ReplayKey,
  type Reply,
  type RequestInfo,
  type Route,
  reply,
  toPage,
  withProblemPages,
} from './handle.ts';
export { type HttpListener, listen } from './listen.ts';
export { type CountedNetwork, networkTokenBucket, toNetworks } from './networks.ts';
export { type RenderCache, renderCache, type Version, type VersionBytes } from './render-cache.ts';
export type { BodyReading } from './request.ts';
export { createRouter, type RequestOutcome, type RouterOptions } from './routes.ts';
export { application, type UnmatchedRequest } from './server.ts';
export { type TokenBucket, tokenBucket } from './token-bucket.ts';
