/** Public interface of the contract library: operations, events, views and problems as values over zod. */
export { type Access, access, anyone, type ResourceRule } from './access.ts';
export { type BodyTasks, createBodyTasks } from './body-tasks.ts';
export { type AnyOperation, type Contract, contract } from './contract.ts';
export { type Deprecation, deprecationHeaders } from './deprecation.ts';
export { type Envelope, type EventType, envelope, event } from './event.ts';
export type { Example, Examples } from './examples.ts';
export { hostNamePattern, isHostName, portPattern } from './host-name.ts';
export {
  addError,
  checkShape,
  createInputErrors,
  describeIssue,
  type InputErrors,
  reportErrors,
  stopAfterErrors,
} from './input-errors.ts';
export { type JsonBody, parseJsonBody } from './json-body.ts';
export { languageTag } from './language-tag.ts';
export { findLoneSurrogates } from './lone-surrogates.ts';
export {
  Body,
  body,
  type FormBody,
  form,
  Json,
  json,
  type Media,
  type Multipart,
  media,
  multipart,
  nothing,
} from './media.ts';
export { type ApiInfo, type OperationGroup, openapi } from './openapi.ts';
export {
  type ActorOf,
  type BodyOf,
  type Operation,
  operation,
  type ParamsOf,
  type QueryOf,
  type ResourceOf,
} from './operation.ts';
export { invalidCursor, page, parseCursor, toCursor } from './page.ts';
export {
  type InputError,
  listErrors,
  maxListedErrors,
  Problem,
  type ProblemKind,
  problem,
} from './problem.ts';
export * from './problems.ts';
export {
  getCacheControl,
  getProblems,
  hasEtag,
  idempotencyKeyPattern,
  ifMatchPattern,
  isConditional,
} from './protocol.ts';
export { type RateLimitPolicy, rateLimitHeaders } from './rate-limit.ts';
export { RejectedToken } from './rejected-token.ts';
export { Secret } from './secret.ts';
export {
  id,
  inputTime,
  newId,
  order,
  patchBody,
  queryFlag,
  queryInteger,
  queryList,
  requiredText,
  text,
  timestamp,
} from './shapes.ts';
export { type RowOf, type View, view } from './view.ts';
