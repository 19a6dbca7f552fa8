/** Handlers: the function that a capability provides for each operation, with its input and reply types. */

import type { z } from 'zod';
import {
  type ActorOf,
  type AnyOperation,
  type Body,
  type BodyOf,
  type Json,
  type Media,
  type ParamsOf,
  type Problem,
  type QueryOf,
  type ResourceOf,
  toCursor,
} from '#libs/contract';
import type { Actor } from '#libs/store';

/** The authenticated caller, with the fields that this library needs. Services extend it. */
export interface Principal extends Actor {
  readonly user_id: string;
  /** Id of the API key, or null for an access token. */
  readonly key_id: string | null;
}

/**
 * Details of a request for the security log, in addition to caller and operation: ids, roles, field names.
 * Never a secret.
 */
export type AuditDetails = Readonly<
  Record<string, string | number | boolean | null | undefined | readonly string[]>
>;

/** Information about a request apart from its parameters and body. */
export interface RequestInfo {
  readonly requestId: string;
  /** The client's IP address. Trusted proxies are skipped. */
  readonly address: string;
  /** ETags of `If-Match`. Absent if there is no such header or it is `*`. */
  readonly ifMatch?: readonly string[];
  /** Whether the client prefers HTML to JSON, as browsers do. */
  readonly prefersHtml: boolean;
  /** Whether the client can read a response with `Content-Encoding: gzip`. */
  readonly acceptsGzip: boolean;
  /** The password of `Authorization: Basic` with any user name, if there is one. */
  readonly basicPassword: string | undefined;
  /** Aborted when the client disconnects, or the response has ended. */
  readonly signal: AbortSignal;
  /** Whether the client already has the response with this ETag (`If-None-Match`). */
  hasCurrent(etag: string): boolean;
  /** The values of the cookies with this name. */
  getCookies(name: string): string[];
  /** Adds details to the request's entry in the security log, if the operation has one. */
  audit(details: AuditDetails): void;
}

/** The input of a handler. */
export interface HandlerInput<O> {
  readonly actor: ActorOf<O>;
  readonly params: ParamsOf<O>;
  readonly query: QueryOf<O>;
  readonly body: BodyOf<O>;
  readonly call: RequestInfo;
  /**
   * Throws if the access rule of the operation does not allow the actor to call it on this resource. A handler
   * of an operation whose access depends on a resource must call it before anything else depends on the
   * resource.
   */
  authorize(resource: ResourceOf<O>): void;
}

/** A response body with an ETag, a cursor, headers, a replay key or a mark that it is private. */
export class Reply<T> {
  readonly value: T;
  /** Strong ETag without quotes. */
  readonly etag: string | undefined;
  /** Cursor of the next page, if there is one, before it is sealed. */
  readonly next: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly isPrivate: boolean;
  readonly isExisting: boolean;
  readonly replayKey: ReplayKey | undefined;

  constructor(value: T, options: ReplyOptions) {
    this.value = value;
    this.etag = options.etag;
    this.next = options.next;
    this.headers = options.headers ?? {};
    this.isPrivate = options.isPrivate ?? false;
    this.isExisting = options.isExisting ?? false;
    this.replayKey = options.replayKey;
  }
}

/** The ids from which a handler's `replay` can render a response again. Never a secret. */
export type ReplayKey = Readonly<Record<string, string>>;

interface ReplyOptions {
  etag?: string | undefined;
  next?: string | undefined;
  /** `Cache-Control` in it is ignored: the operation decides about it. */
  headers?: Readonly<Record<string, string>>;
  /** Whether shared caches must not store the response, although the operation has a `cacheControl`. */
  isPrivate?: boolean;
  /** Whether the resource existed already: the response has the `existingStatus` of the operation. */
  isExisting?: boolean;
  /**
   * Allows a response of any length for an `Idempotency-Key`. A long response is not stored; `replay` renders
   * it again from these ids.
   */
  replayKey?: ReplayKey;
}

/** Creates a reply: a response body with an ETag, the cursor of the next page, headers and other options. */
export function reply<T>(value: T, options: ReplyOptions): Reply<T> {
  return new Reply(value, options);
}

/** The input of `toPage`. */
export interface PageInput<Row, Item> {
  /** The rows that were found. There is another page if there are more than `limit`. */
  found: readonly Row[];
  limit: number;
  toItem(row: Row): Item;
  /**
   * Returns the position where the next page begins. `last` is the last row of this page, `next` the first of
   * the next.
   */
  position(last: Row, next: Row): readonly (string | number | null)[];
}

/** Creates one page of a list, with the cursor of the next page if there is one. */
export function toPage<Row, Item>({ found, limit, toItem, position }: PageInput<Row, Item>): Reply<Item[]> {
  const rows = found.slice(0, limit);
  const [last, next] = [rows.at(-1), found[limit]];
  return reply(rows.map(toItem), { next: last && next && toCursor(position(last, next)) });
}

type Value<O> = O extends { returns: infer R }
  ? R extends Media
    ? Body
    : R extends z.ZodVoid
      ? undefined
      : R extends z.ZodType
        ? z.output<R> | Json
        : never
  : never;

/** An operation with its handler. */
export interface Route extends MoreHandlers<AnyOperation, unknown> {
  readonly operation: AnyOperation;
  run(input: HandlerInput<AnyOperation>): Promise<unknown>;
  /** Renders a problem as an HTML page, or returns `undefined` to send JSON. */
  problemPage?: ProblemPage;
}

/** Optional handlers: before a body is read, and for repeated requests with an `Idempotency-Key`. */
export interface MoreHandlers<O, Result> {
  /**
   * Rejects if the body need not be read, because the resource does not exist or the caller may not change it. A body
   * above 1 MiB is large, and so is one of unknown length that can become large.
   */
  beforeBody?(input: Omit<HandlerInput<O>, 'body' | 'query'> & { isLarge: boolean }): Promise<unknown>;
  /** Checks that the caller may still see the stored response. Rejects otherwise. */
  authorizeReplay?(input: HandlerInput<O>): Promise<unknown>;
  /** Renders a response that was too large to store, from its replay key. It reflects the current state. */
  replay?(input: HandlerInput<O>, key: ReplayKey): Promise<Result>;
}

/** Renders a problem as an HTML page if the client wants one. The query is not validated. */
export type ProblemPage = (
  problem: Problem,
  call: RequestInfo,
  query: Readonly<Record<string, unknown>>,
) => { html: string; headers: Readonly<Record<string, string>> } | undefined;

/**
 * Binds an operation to its handler. The handler of an authenticated POST must reply through `store.respond`,
 * which stores the response for the request's `Idempotency-Key`. Use `authorizeReplay` if the permission to
 * see the response can be lost; a POST whose access depends on a resource must have it.
 */
export function handle<O extends AnyOperation>(
  operation: O,
  run: (input: HandlerInput<O>) => Promise<Value<O> | Reply<Value<O>>>,
  more: MoreHandlers<O, Value<O> | Reply<Value<O>>> = {},
): Route {
  const { id, method, access } = operation;
  if (method === 'post' && access.resource && !more.authorizeReplay)
    throw new Error(`The handler of ${id} needs authorizeReplay`);
  return { operation, run, ...more };
}

/** Adds HTML problem pages to a route. Throws if the operation does not declare `problemPages`. */
export function withProblemPages(route: Route, problemPage: ProblemPage): Route {
  if (!route.operation.problemPages) throw new Error(`${route.operation.id} does not declare problemPages`);
  return { ...route, problemPage };
}
