/** Examples of the OpenAPI document: requests that a test has sent, and the responses. */

/** A request and its successful response. */
export interface Example {
  /** The path parameters. */
  params?: Readonly<Record<string, string>>;
  /** The query parameters, as values of their schemas. */
  query?: Readonly<Record<string, unknown>>;
  /** The JSON body, or the fields of a form without its file. */
  body?: unknown;
  /** Absent if the response is empty or binary. */
  response?: { type: string; body: unknown };
}

/** All examples. The first one of an operation shows the request; others have another type of response. */
export interface Examples {
  /** By the id of the operation. */
  operations: Readonly<Record<string, readonly Example[]>>;
  /** The body of a webhook request by the type of the event. */
  webhooks: Readonly<Record<string, unknown>>;
}

/** Returns the member `example` of a parameter, if there is a value. */
export function toExample(value: unknown): { example?: unknown } {
  return value === undefined ? {} : { example: value };
}

/** Returns the member `example` of a response with this media type, if there is one. */
export function findResponseExample(examples: readonly Example[], type: string): { example?: unknown } {
  return toExample(examples.find(({ response }) => response?.type === type)?.response?.body);
}
