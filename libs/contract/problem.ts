/**
 * Problems: the errors that callers see (RFC 9457). Error statuses are declared only here, with `problem`.
 */

/** An error for the caller. Rules, stores and capabilities throw it; `libs/http` renders it. */
export class Problem extends Error {
  readonly kind: ProblemKind;
  /** Additional members of the problem, e.g. `errors` or `limit`. */
  readonly extra: Record<string, unknown>;
  /** Headers of the response, e.g. `Retry-After`. */
  readonly headers: Record<string, string>;

  constructor(kind: ProblemKind, detail: string, options: ProblemOptions) {
    super(detail);
    this.name = kind.code;
    this.kind = kind;
    this.extra = options.extra ?? {};
    this.headers = { ...kind.headers, ...options.headers };
  }
}

/** Additional members and headers of a problem. */
export interface ProblemOptions {
  extra?: Record<string, unknown>;
  headers?: Record<string, string>;
}

/** A kind of problem. Call it to create the error to throw. */
export interface ProblemKind {
  (detail?: string, options?: ProblemOptions): Problem;
  /** Stable machine-readable name in snake_case. */
  readonly code: string;
  /** HTTP status, 400–599. */
  readonly status: number;
  /** What is wrong, in plain English. The default of `detail`. */
  readonly title: string;
  /** Default headers of every problem of this kind. */
  readonly headers: Readonly<Record<string, string>>;
}

/** Declares a kind of problem: its code, its HTTP status and its title. */
export function problem(
  code: string,
  status: number,
  title: string,
  headers: Readonly<Record<string, string>> = {},
): ProblemKind {
  const kind: ProblemKind = Object.assign(
    (detail: string = title, options: ProblemOptions = {}) => new Problem(kind, detail, options),
    { code, status, title, headers },
  );
  return kind;
}

/** One error of an invalid request. `path` says where, e.g. `body/title`; `message` says what to do. */
export interface InputError {
  path: string;
  message: string;
}

/** The maximum number of errors in a response, so that a small request cannot cause a large response. */
export const maxListedErrors = 100;

/** Creates a problem that lists the first 100 of `total` errors. Its detail says how many more were found. */
export function listErrors(
  kind: ProblemKind,
  errors: readonly InputError[],
  total: number = errors.length,
): Problem {
  const listed = errors.slice(0, maxListedErrors);
  const more = total - listed.length;
  const detail =
    more > 0
      ? `${kind.title} The list ends after ${listed.length}; at least ${more} more follow.`
      : undefined;
  return kind(detail, { extra: { errors: listed } });
}
