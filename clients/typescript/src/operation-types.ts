/** The types of the client's methods, derived from the types of the operations in the contract. */
import type { Download } from './download.ts';
import type { Operations, PasswordOperationId } from './generated/operations.ts';

/** The id of an operation. */
export type OperationId = keyof Operations;

/** The operations that return a list in pages. */
export type PagedOperationId = {
  [Id in OperationId]: 'cursor' extends keyof ParametersIn<Operations[Id], 'query'> ? Id : never;
}[OperationId];

/** The parameters of an operation, and its `body` if it has one. */
export type OperationInput<Id extends OperationId> = Input<Operations[Id]>;

/** What an operation returns. */
export type OperationResult<Id extends OperationId> = Result<Operations[Id]>;

/** Options of every call. */
export interface CallOptions {
  /** Ends the call, also while it waits for a retry. */
  signal?: AbortSignal | undefined;
  /**
   * The longest time of one attempt, in ms; `Infinity` for none. For a download, until the file begins.
   * Default: that of the client.
   */
  timeoutMs?: number | undefined;
}

/** Options of a call. The contract decides which operations have which. */
export interface AllCallOptions extends CallOptions {
  /** Identifies this call if you repeat it. Default: a new key for every call. */
  idempotencyKey?: string | undefined;
  /** The `etag` that the document must still have; otherwise the call fails with 412. */
  ifMatch?: string | undefined;
  /** The `etag` that you already have, if any; if it is current, the response has no data. */
  ifNoneMatch?: string | undefined;
  /** The password of the public link, if it has one. */
  password?: string | undefined;
}

/** A response with its data and what its headers say. */
export interface ApiResponse<Data> {
  isModified: true;
  data: Data;
  status: number;
  /** The version of the document, for `ifMatch` and `ifNoneMatch`. */
  etag: string | undefined;
  requestId: string | undefined;
  /** Whether this is the stored response of an earlier request with the same key. Its secrets are `null`. */
  isReplayed: boolean;
  headers: Headers;
}

/** The response if what you have is current. */
export interface NotModified extends Omit<ApiResponse<undefined>, 'isModified'> {
  isModified: false;
}

/** All operations as methods that return the data. */
export type DataMethods = { [Id in OperationId]: DataMethod<Operations[Id]> };

/** All operations as methods that return the data with the headers. */
export type ResponseMethods = { [Id in OperationId]: ResponseMethod<Operations[Id]> };

/** The lists as methods that iterate over `Kind`: all items or all pages. */
export type ListMethods<Kind extends 'items' | 'pages'> = {
  [Id in PagedOperationId]: ListMethod<Operations[Id], Kind>;
};

type DataMethod<Op> = ((...args: Arguments<Op, WriteOptions<Op>>) => Promise<Result<Op>>) &
  CsvMethod<Op, Download>;

type ListMethod<Op, Kind> = (
  ...args: Arguments<Op, CallOptions>
) => AsyncGenerator<Kind extends 'pages' ? Result<Op> : Item<Result<Op>>, void, undefined>;

type ResponseMethod<Op> =
  HasHeader<Op, 'If-None-Match'> extends true
    ? ConditionalMethod<Op>
    : ((...args: Arguments<Op, WriteOptions<Op>>) => Promise<ApiResponse<Result<Op>>>) &
        CsvMethod<Op, ApiResponse<Download>>;

/** The call of an operation that returns JSON, or a file for `format: 'csv'`. */
type CsvMethod<Op, Returned> =
  HasCsv<Op> extends true
    ? (input: Input<Op> & { format: 'csv' }, options?: WriteOptions<Op>) => Promise<Returned>
    : unknown;

interface ConditionalMethod<Op> {
  (
    input: Input<Op>,
    options: WriteOptions<Op> & { ifNoneMatch: string | undefined },
  ): Promise<ApiResponse<Result<Op>> | NotModified>;
  (...args: Arguments<Op, WriteOptions<Op>>): Promise<ApiResponse<Result<Op>>>;
}

type Arguments<Op, Options> =
  Record<never, never> extends Input<Op>
    ? [input?: JsonInput<Op>, options?: Options]
    : [input: JsonInput<Op>, options?: Options];

/** The input of a call that returns JSON. */
type JsonInput<Op> =
  HasCsv<Op> extends true ? Omit<Input<Op>, 'format'> & { format?: 'json' | undefined } : Input<Op>;

type WriteOptions<Op> = CallOptions &
  (HasHeader<Op, 'Idempotency-Key'> extends true ? Pick<AllCallOptions, 'idempotencyKey'> : unknown) &
  (HasHeader<Op, 'If-Match'> extends true ? Pick<AllCallOptions, 'ifMatch'> : unknown) &
  (Op extends Operations[PasswordOperationId] ? Pick<AllCallOptions, 'password'> : unknown);

type Input<Op> = Simplify<ParametersIn<Op, 'path'> & Query<ParametersIn<Op, 'query'>> & Body<Op>>;

/** The parameters at one place; no fields if there are none. */
type ParametersIn<Op, Place extends string> = Op extends { parameters: { [In in Place]?: infer Found } }
  ? OrEmpty<NonNullable<Found>>
  : Empty;

type Query<Parameters> = { [Name in keyof Parameters]: Parameters[Name] | undefined };

type Body<Op> = Op extends { requestBody: infer Required }
  ? { body: BodyContent<Required> }
  : Op extends { requestBody?: infer Optional }
    ? [NonNullable<Optional>] extends [never]
      ? Empty
      : { body?: BodyContent<NonNullable<Optional>> }
    : Empty;

type BodyContent<Request> = Request extends { content: infer Found } ? Found[keyof Found] : never;

type Result<Op> = Op extends { responses: infer All }
  ? Content<All[keyof All & (200 | 201 | 202 | 204)]>
  : never;

type Content<Response> = Response extends { content: infer Found }
  ? Found extends { 'application/json': infer Json }
    ? Json
    : Download
  : undefined;

type HasCsv<Op> = Op extends { responses: { 200: { content: infer Found } } }
  ? 'application/json' | 'text/csv' extends keyof Found
    ? true
    : false
  : false;

type Item<List> = List extends readonly (infer One)[] ? One : never;

type HasHeader<Op, Name extends string> = Name extends keyof ParametersIn<Op, 'header'> ? true : false;

type Empty = Record<never, never>;
type OrEmpty<T> = [T] extends [never] ? Empty : T;
type Simplify<T> = { [Key in keyof T]: T[Key] } & {};
