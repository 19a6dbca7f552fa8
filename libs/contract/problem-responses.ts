/** Error responses of the OpenAPI document. A response that several operations have in common is a component. */
import type { AnyOperation } from './contract.ts';
import type { ProblemKind } from './problem.ts';
import { getProblems } from './protocol.ts';
import { failureHeaders } from './response-headers.ts';

type Json = Record<string, unknown>;

interface ProblemResponse {
  /** Names every problem of the response, e.g. `InvalidRequestOrMalformedJson`. */
  name: string;
  status: number;
  response: Json;
}

/**
 * Returns the error responses that at least two of `operations` have in common, for `components/responses`.
 * The key is the name of the response. It depends only on its problems, not on the order of operations.
 */
export function sharedProblemResponses(operations: readonly AnyOperation[]): Record<string, Json> {
  const uses = Map.groupBy(operations.flatMap(listResponses), ({ name }) => name);
  const shared = [...uses.values()]
    .flatMap(([first, second]) => (first && second ? [first] : []))
    .sort((a, b) => a.status - b.status || (a.name < b.name ? -1 : 1));
  return Object.fromEntries(shared.map(({ name, response }) => [name, response]));
}

/**
 * Returns the error responses of `operation` by status: a `$ref` if the response is in `shared`, otherwise the
 * response itself. Each response lists exactly the problem codes of its operation.
 */
export function toProblemResponses(
  operation: AnyOperation,
  shared: Record<string, Json>,
): Record<number, Json> {
  return Object.fromEntries(
    listResponses(operation).map(({ name, status, response }) => [
      status,
      name in shared ? { $ref: `#/components/responses/${name}` } : response,
    ]),
  );
}

function listResponses(operation: AnyOperation): ProblemResponse[] {
  const pages = operation.problemPages ?? false;
  const byStatus = Map.groupBy(getProblems(operation), ({ status }) => status);
  return [...byStatus].map(([status, kinds]) => ({
    name: toName(kinds, pages),
    status,
    response: toResponse(status, kinds, pages),
  }));
}

function toName(kinds: readonly ProblemKind[], pages: boolean): string {
  const names = kinds.map(({ code }) => code.replaceAll(/(?:^|_)(\w)/g, (_, letter) => letter.toUpperCase()));
  return names.join('Or') + (pages ? 'Page' : '');
}

function toResponse(status: number, kinds: readonly ProblemKind[], pages: boolean): Json {
  const lines = kinds.map((kind) => `- \`${kind.code}\`: ${kind.title}`);
  const schema = {
    allOf: [
      { $ref: '#/components/schemas/Problem' },
      { properties: { code: { enum: kinds.map((kind) => kind.code) } } },
    ],
  };
  const headers = failureHeaders(status, kinds);
  const page = {
    'text/html': { schema: { description: 'The problem as an HTML page, for clients that prefer HTML' } },
  };
  return {
    description: lines.join('\n'),
    ...(Object.keys(headers).length > 0 && { headers }),
    content: { 'application/problem+json': { schema }, ...(pages && page) },
  };
}
