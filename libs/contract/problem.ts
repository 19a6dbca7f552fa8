/** Problems: the errors that callers see, as RFC 9457 names them; the only place where a status is written. */

/** An error on its way to the caller: thrown by rules, stores and capabilities, rendered by `libs/http`. */
export class Problem extends Error {
  readonly kind: ProblemKind;
  /** Members beside the standard ones, e.g. `errors` or `limit`. */
  readonly extra: Record<string, unknown>;
  /** Headers of the answer, e.g. `Retry-After`. */
  readonly headers: Record<string, string>;

  constructor(kind: ProblemKind, detail: string, more: ProblemOptions) {
    super(detail);
    this.name = kind.code;
    this.kind = kind;
    this.extra = more.extra ?? {};
    this.headers = { ...kind.headers, ...more.headers };
  }
}

export interface ProblemOptions {
  extra?: Record<string, unknown>;
  headers?: Record<string, string>;
}

/** One kind of problem: call it to make the error that is thrown. */
export interface ProblemKind {
  (detail?: string, more?: ProblemOptions): Problem;
  /** Stable name for machines, snake_case. */
  readonly code: string;
  /** HTTP status, 400–599. */
  readonly status: number;
  /** One sentence for people; the default of `detail`. */
  readonly title: string;
  /** Headers of every such answer, unless it brings its own. */
  readonly headers: Readonly<Record<string, string>>;
}

/** Declares a kind of problem: its code, its status and the sentence that tells the caller what to do. */
export function problem(
  code: string,
  status: number,
  title: string,
  headers: Readonly<Record<string, string>> = {},
): ProblemKind {
  const kind: ProblemKind = Object.assign(
    (detail: string = title, more: ProblemOptions = {}) => new Problem(kind, detail, more),
    { code, status, title, headers },
  );
  return kind;
}
