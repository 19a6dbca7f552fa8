/** Handlers: what a capability does for one operation. */

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
  toCursor,
} from '#libs/contract';
import type { Actor } from '#libs/store';

/** Who is asking, as this library needs to know it; services know more. */
export interface Principal extends Actor {
  readonly user_id: string;
  /** The API key that was used, or null for an access token. */
  readonly key_id: string | null;
}

/**
 * What the security log says of a request beside who asked for what: ids, roles, names of fields. Never a
 * secret.
 */
export type AuditDetails = Readonly<
  Record<string, string | number | boolean | null | undefined | readonly string[]>
>;

/** What a request says beside its parameters and body. */
export interface RequestInfo {
  readonly requestId: string;
  /** The client's address, through trusted proxies. */
  readonly address: string;
  /** ETags of `If-Match`; absent when there is none or it is `*`. */
  readonly ifMatch?: readonly string[];
  /** Whether the client prefers HTML to JSON, as browsers do. */
  readonly prefersHtml: boolean;
  /** Whether the client says that it has the answer with this ETag already (`If-None-Match`). */
  hasCurrent(etag: string): boolean;
  /** Adds details to the line of the security log, where the operation leaves one. */
  audit(details: AuditDetails): void;
}

/** What a handler gets. */
export interface HandlerInput<O> {
  readonly actor: ActorOf<O>;
  readonly params: ParamsOf<O>;
  readonly query: QueryOf<O>;
  readonly body: BodyOf<O>;
  readonly call: RequestInfo;
}

/** An answer with more than its body. */
export class Reply<T> {
  readonly value: T;
  /** Strong ETag without quotes. */
  readonly etag: string | undefined;
  /** Cursor of the next page. */
  readonly next: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly replayKey: ReplayKey | undefined;

  constructor(value: T, more: ReplyOptions) {
    this.value = value;
    this.etag = more.etag;
    this.next = more.next;
    this.headers = more.headers ?? {};
    this.replayKey = more.replayKey;
  }
}

/** The ids from which a handler's `replay` renders a response again; never a secret. */
export type ReplayKey = Readonly<Record<string, string>>;

interface ReplyOptions {
  etag?: string | undefined;
  next?: string | undefined;
  headers?: Readonly<Record<string, string>>;
  /**
   * Lets the response to an Idempotency-Key be of any length: a long one is not stored but rendered again by
   * `replay`.
   */
  replayKey?: ReplayKey;
}

/**
 * An answer with an ETag, the cursor of a next page, headers, or the ids that it can be rendered again from.
 */
export function reply<T>(value: T, more: ReplyOptions): Reply<T> {
  return new Reply(value, more);
}

/** What a page of a list is made from. */
export interface PageInput<Row, Shown> {
  /** The rows found: one more than `limit` when there is another page. */
  found: readonly Row[];
  limit: number;
  toItem(row: Row): Shown;
  /** Where the next page begins: after the last row of this one, with the first of the next. */
  position(last: Row, next: Row): readonly (string | number | null)[];
}

/** A page of a list with the cursor of the next one, if there is more. */
export function toPage<Row, Shown>({
  found,
  limit,
  toItem,
  position,
}: PageInput<Row, Shown>): Reply<Shown[]> {
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
export interface Route extends ReplayHandlers<AnyOperation, unknown> {
  readonly operation: AnyOperation;
  run(input: HandlerInput<AnyOperation>): Promise<unknown>;
  /** The page that stands for a problem; nothing for a caller who gets JSON. */
  problemPage?: ProblemPage;
}

/** What matters when a request with an Idempotency-Key is repeated. */
export interface ReplayHandlers<O, Given> {
  /** Checks that the caller may still see the stored response; rejects otherwise. */
  authorizeReplay?(asked: HandlerInput<O>): Promise<void>;
  /** Renders a response that was too long to store, from its replay key; it shows the current state. */
  replay?(asked: HandlerInput<O>, key: ReplayKey): Promise<Given>;
}

/**
 * Makes the page that stands for a problem, if the caller wants one; the query is as it came, perhaps of a
 * wrong form.
 */
export type ProblemPage = (
  problem: Problem,
  call: RequestInfo,
  query: Readonly<Record<string, unknown>>,
) => { html: string; headers: Readonly<Record<string, string>> } | undefined;

/**
 * Says how an operation is handled. The handler of an authenticated POST replies through `store.respond`,
 * which stores the response where the request has an Idempotency-Key. Where not everybody may see it,
 * `authorizeReplay` checks that.
 */
export function handle<O extends AnyOperation>(
  operation: O,
  run: (input: HandlerInput<O>) => Promise<Value<O> | Reply<Value<O>>>,
  more: ReplayHandlers<O, Value<O> | Reply<Value<O>>> = {},
): Route {
  return { operation, run, ...more };
}

/**
 * Says how the problems of an operation look as pages; throws when the operation does not declare that they
 * do.
 */
export function withProblemPages(route: Route, problemPage: ProblemPage): Route {
  if (!route.operation.problemPages) throw new Error(`${route.operation.id} does not declare problemPages`);
  return { ...route, problemPage };
}
