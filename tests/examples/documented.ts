/** Reads the example requests of the OpenAPI document, as a tool that offers to try an operation does. */
import type { Example } from '#libs/contract';

// biome-ignore lint/suspicious/noExplicitAny: the OpenAPI document is read without types
type Json = any;

/** A request that the OpenAPI document shows. */
export type DocumentedRequest = Pick<Example, 'params' | 'query' | 'body'>;

/** The documented requests and responses by the id of their operation. */
export function readDocumented(document: Json) {
  const operations: Json[] = Object.values<Json>(document.paths).flatMap((item) => Object.values(item));
  const byId = new Map(operations.map((operation) => [operation.operationId, operation]));
  return {
    /** Returns the example request of an operation, or undefined if it has no example. */
    getRequest(id: string): DocumentedRequest {
      const { parameters, requestBody } = byId.get(id);
      const pick = (place: string) =>
        parameters
          .filter((one: Json) => one.in === place && 'example' in one)
          .map((one: Json) => [one.name, one.example]);
      const body = requestBody && readBody(requestBody.content);
      return {
        params: Object.fromEntries(pick('path')),
        query: Object.fromEntries(pick('query')),
        ...(body !== undefined && { body }),
      };
    },

    /** Returns the media types of the successful response with their examples. */
    getResponses(id: string): { type: string; schema: Json; example?: unknown }[] {
      const [[, success]] = Object.entries<Json>(byId.get(id).responses).filter(
        ([status]) => status.startsWith('2') || status === '303',
      ) as [[string, Json]];
      return Object.entries<Json>(success.content ?? {}).map(([type, media]) => ({ type, ...media }));
    },
  };

  function readBody(content: Json): unknown {
    const {
      'application/json': json,
      'application/x-www-form-urlencoded': encoded,
      'multipart/form-data': form,
    } = content;
    if (json ?? encoded) return (json ?? encoded).example;
    const { properties } = document.components.schemas[form.schema.$ref.split('/').at(-1)];
    const withExample = Object.entries<Json>(properties).filter(([, { examples }]) => examples);
    return Object.fromEntries(withExample.map(([name, { examples }]) => [name, examples[0]]));
  }
}
