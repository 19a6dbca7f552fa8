/** The door of the HTTP library: operations become routes, with everything the protocol asks for. */
export type { Authenticate } from './credentials.ts';
export { type Gateway, gateway } from './gateway.ts';
export {
  type Answer,
  type Asked,
  answer,
  type Call,
  type Facts,
  type Handled,
  handle,
  type Principal,
  type ProblemPage,
  pageOf,
  type ReplayKey,
  withProblemPages,
} from './handle.ts';
export { type KeptBytes, keptBytes } from './kept-bytes.ts';
export { type Done, type Routes, routes } from './routes.ts';
export { application, type Listening, listen, type UnmatchedRequest } from './server.ts';
export { type Bucket, tokenBucket } from './token-bucket.ts';
