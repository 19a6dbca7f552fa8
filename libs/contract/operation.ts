/** Operations: one HTTP operation as a value, from which route, parsing, types, reference and tests follow. */
import type { z } from 'zod';
import type { Access } from './access.ts';
import type { Media, Multipart } from './media.ts';
import type { ProblemKind } from './problem.ts';

type Shape = z.ZodType;

/** One HTTP operation. Paths are written as in OpenAPI: `/documents/{doc_id}`. */
export interface Operation<
  Principal = unknown,
  Params extends Shape = Shape,
  Query extends Shape = Shape,
  Body extends Shape | Multipart = Shape | Multipart,
  Returns extends Shape | Media = Shape | Media,
> {
  /** Verb and noun in camelCase; the name in metrics, spans and the reference. */
  readonly id: string;
  readonly method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  readonly path: string;
  /** What the path starts from: the API's prefix (default) or the application's root. */
  readonly at?: 'api' | 'root';
  readonly summary: string;
  readonly description?: string;
  readonly access: Access<Principal>;
  /** Which of those with access may call it, in one sentence, where that depends on the resource. */
  readonly permission?: string;
  readonly params?: Params;
  readonly query?: Query;
  readonly body?: Body;
  /** Largest JSON body in bytes; 1 MiB unless said. */
  readonly maxBodyBytes?: number;
  /** The status of success. */
  readonly status: 200 | 201 | 202 | 204;
  readonly returns: Returns;
  /** Where what it creates can be read, e.g. `/documents/{id}`: `{id}` is the response's, other names are path parameters. */
  readonly location?: string;
  /** Whether answers carry an ETag (and conditional requests work). */
  readonly etag?: boolean;
  /** Whether the answer is a page of a list with a `Link` to the next. */
  readonly paged?: boolean;
  /** Top-level fields of the answer that are shown once: a replay by Idempotency-Key has null there. */
  readonly secrets?: readonly string[];
  /** Whether those who prefer HTML get problems as pages too; its handler says how they look. */
  readonly problemPages?: boolean;
  /** Whether pages of any origin may call it (CORS): preflight requests are answered. Its handler sends the other headers. */
  readonly crossOrigin?: boolean;
  /** What the security log calls it, if an auditor asks about it: each request leaves a line, e.g. `api_key.create`. */
  readonly audit?: string;
  /** Problems of this operation beside those that the protocol makes. */
  readonly problems: readonly ProblemKind[];
}

/** Declares an operation. */
export function operation<
  Principal,
  Params extends Shape = z.ZodObject<Record<never, never>>,
  Query extends Shape = z.ZodObject<Record<never, never>>,
  Body extends Shape | Multipart = z.ZodVoid,
  Returns extends Shape | Media = Shape,
>(
  options: Operation<Principal, Params, Query, Body, Returns>,
): Operation<Principal, Params, Query, Body, Returns> {
  return options;
}

/** The principal that an operation's handler gets. */
export type ActorOf<O> =
  O extends Operation<infer P, Shape, Shape, Shape | Multipart, Shape | Media> ? P : never;

/** The path parameters, parsed. */
export type ParamsOf<O> = O extends { params?: infer P } ? (P extends Shape ? z.output<P> : object) : object;

/** The query parameters, parsed. */
export type QueryOf<O> = O extends { query?: infer Q } ? (Q extends Shape ? z.output<Q> : object) : object;

/** The body, parsed: JSON as its schema says, or the fields and the file of a multipart message. */
export type BodyOf<O> = O extends { body?: infer B }
  ? B extends Multipart<infer F>
    ? { fields: z.output<F>; file: { name: string; bytes: Uint8Array } }
    : B extends Shape
      ? z.output<B>
      : undefined
  : undefined;
