/** HTTP operations as values. The route, parsing, types, API reference and tests are derived from them. */
import type { z } from 'zod';
import type { Access } from './access.ts';
import { checkDeprecation, type Deprecation } from './deprecation.ts';
import type { FormBody, Media, Multipart } from './media.ts';
import type { ProblemKind } from './problem.ts';

type Shape = z.ZodType;

/** One HTTP operation. Paths use the OpenAPI syntax: `/documents/{doc_id}`. */
export interface Operation<
  Principal = unknown,
  Params extends Shape = Shape,
  Query extends Shape = Shape,
  Body extends Shape | Multipart | FormBody = Shape | Multipart | FormBody,
  Returns extends Shape | Media = Shape | Media,
  Resource = unknown,
> {
  /** Verb and noun in camelCase. The name of the operation in metrics, spans and the API reference. */
  readonly id: string;
  readonly method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  readonly path: string;
  /** Where the path starts: at the API prefix (default) or at the root of the application. */
  readonly at?: 'api' | 'root';
  readonly summary: string;
  readonly description?: string;
  readonly access: Access<Principal, Resource>;
  readonly params?: Params;
  readonly query?: Query;
  readonly body?: Body;
  /** Maximum size of a JSON body or a form in bytes. The default is 1 MiB. */
  readonly maxBodyBytes?: number;
  /** The status of a successful response. With 303, the handler sets `Location`. */
  readonly status: 200 | 201 | 202 | 204 | 303;
  readonly returns: Returns;
  /** The status of a response with a resource that existed already, if it differs from `status`. */
  readonly existingStatus?: 200;
  /**
   * Path of the created resource for the `Location` header, e.g. `/documents/{id}`. `{id}` is taken from the
   * response, other names are path parameters.
   */
  readonly location?: string;
  /** Whether responses have an ETag and conditional requests are supported. */
  readonly etag?: boolean;
  /**
   * `Cache-Control` of successful responses. By default a GET with an ETag has `private, no-cache`, and every other
   * operation `no-store`. Never set it if a response contains a secret. It does not apply to a private reply.
   */
  readonly cacheControl?: string;
  /** Whether the response is one page of a list, with a `Link` header to the next page. */
  readonly paged?: boolean;
  /**
   * Top-level fields of the response that are shown only once. They are null when the response is replayed.
   */
  readonly secrets?: readonly string[];
  /** Whether clients that prefer HTML get problems as HTML pages. The handler renders the pages. */
  readonly problemPages?: boolean;
  /**
   * Whether web pages of any origin may call it (CORS). Preflight requests are answered automatically. The
   * handler sets the CORS headers of all other responses.
   */
  readonly crossOrigin?: boolean;
  /** If set, responses have the headers `Deprecation` and `Sunset`, and the API reference shows it. */
  readonly deprecated?: Deprecation;
  /**
   * Whether a response may wait until there is something to respond (long polling). Such requests do not count as work
   * in progress, so that waiting clients take no capacity from others.
   */
  readonly longPoll?: boolean;
  /** Event name in the security log, e.g. `api_key.create`. If set, every request is logged there. */
  readonly audit?: string;
  /** Problems specific to this operation. `getProblems` adds those of the protocol. */
  readonly problems: readonly ProblemKind[];
}

/** Declares an operation. Throws if the dates of its deprecation are invalid. */
export function operation<
  Principal,
  Params extends Shape = z.ZodObject<Record<never, never>>,
  Query extends Shape = z.ZodObject<Record<never, never>>,
  Body extends Shape | Multipart | FormBody = z.ZodVoid,
  Returns extends Shape | Media = Shape,
  Resource = never,
>(
  options: Operation<Principal, Params, Query, Body, Returns, Resource>,
): Operation<Principal, Params, Query, Body, Returns, Resource> {
  if (options.deprecated) checkDeprecation(options.deprecated);
  return options;
}

/** The type of the principal that an operation's handler receives. */
export type ActorOf<O> =
  O extends Operation<infer P, Shape, Shape, Shape | Multipart | FormBody, Shape | Media> ? P : never;

/** The type of the resource that the access rule depends on; `never` if it depends on none. */
export type ResourceOf<O> = O extends { access: Access<infer _, infer R> } ? R : never;

/** The type of the parsed path parameters. */
export type ParamsOf<O> = O extends { params?: infer P } ? (P extends Shape ? z.output<P> : object) : object;

/** The type of the parsed query parameters. */
export type QueryOf<O> = O extends { query?: infer Q } ? (Q extends Shape ? z.output<Q> : object) : object;

/** The type of the parsed body: JSON, the fields of a form, or the fields and the file of a multipart message. */
export type BodyOf<O> = O extends { body?: infer B }
  ? B extends Multipart<infer F>
    ? { fields: z.output<F>; file: { name: string; bytes: Uint8Array } }
    : B extends FormBody<infer F>
      ? z.output<F>
      : B extends Shape
        ? z.output<B>
        : undefined
  : undefined;
