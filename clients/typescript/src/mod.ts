/** The public interface of the client. */
export {
  type AuditLogChecks,
  type AuditLogFault,
  type AuditLogSource,
  AuditLogVerificationError,
  type VerifiedAuditLog,
  verifyAuditLog,
} from './audit-log.ts';
export { type Client, type ClientOptions, createClient } from './client.ts';
export type { Download } from './download.ts';
export {
  ConnectionError,
  type ProblemCode,
  ProblemError,
  TimeoutError,
} from './errors.ts';
export type { FileContent } from './file-content.ts';
export type * from './generated/contract.ts';
export { apiVersion } from './generated/operations.ts';
export type {
  ApiResponse,
  CallOptions,
  NotModified,
  OperationId,
  OperationInput,
  OperationResult,
  PagedOperationId,
} from './operation-types.ts';
export {
  verifyWebhook,
  type WebhookPayload,
  type WebhookRejection,
  type WebhookRequest,
  type WebhookTestPayload,
  WebhookVerificationError,
} from './webhook.ts';
