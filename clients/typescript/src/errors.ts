/** The errors that the client throws: problems that the service reports, and requests without a response. */
import type { InputError } from './generated/contract.ts';
import type { KnownProblemCode } from './generated/operations.ts';

/**
 * The stable name of a problem. `unexpected_response` means that the response does not come from the service. Later
 * versions of the service may report further codes.
 */
export type ProblemCode = KnownProblemCode | 'unexpected_response' | (string & {});

/** What a `ProblemError` consists of. */
export interface ProblemFacts {
  status: number;
  code: ProblemCode;
  title: string;
  detail: string;
  errors?: readonly InputError[];
  requestId?: string | undefined;
  retryAfterSeconds?: number | undefined;
  members?: Readonly<Record<string, unknown>>;
}

/** The service answered with an error (RFC 9457), or with something that is not a response of the service. */
export class ProblemError extends Error {
  /** HTTP status. */
  readonly status: number;
  /** Stable name of the problem, for programs. */
  readonly code: ProblemCode;
  /** What is wrong. */
  readonly title: string;
  /** What to do. */
  readonly detail: string;
  /** The mistakes of an invalid request; empty for other problems. */
  readonly errors: readonly InputError[];
  /** Names the request in the log of the service. Include it when you report a problem. */
  readonly requestId: string | undefined;
  /** When the request may be repeated, if the response has `Retry-After`. */
  readonly retryAfterSeconds: number | undefined;
  /** All members of the problem, also those that only some problems have. */
  readonly members: Readonly<Record<string, unknown>>;

  constructor(facts: ProblemFacts) {
    const mistakes = (facts.errors ?? []).map(({ path, message }) => `${path}: ${message}`);
    super([facts.detail, ...mistakes.slice(0, 10)].join('\n'));
    this.name = 'ProblemError';
    this.status = facts.status;
    this.code = facts.code;
    this.title = facts.title;
    this.detail = facts.detail;
    this.errors = facts.errors ?? [];
    this.requestId = facts.requestId;
    this.retryAfterSeconds = facts.retryAfterSeconds;
    this.members = facts.members ?? {};
  }
}

/** No complete response arrived. The service may have done what was requested. */
export class ConnectionError extends Error {
  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'ConnectionError';
  }
}

/** No complete response arrived in time. */
export class TimeoutError extends ConnectionError {
  constructor(message: string) {
    super(message);
    this.name = 'TimeoutError';
  }
}
