/** Error responses of the OpenAPI document. A response that several operations have in common is a component. */
import type { AnyOperation } from './contract.ts';
import type { ProblemKind } from './problem.ts';
import { getProblems } from './protocol.ts';
import { failureHeaders } from './response-headers.ts';

type Json = Record<string, unknown>;

/** The schemas of every error response. */
export const problemSchemas: Readonly<Record<string, Json>> = {
  Problem: {
    type: 'object',
    description:
      'An error in the format of RFC 9457. `code` is stable; each response lists its codes in `x-problem-codes`.',
    properties: {
      type: { type: 'string', description: '`urn:problem:` and the code' },
      title: { type: 'string', description: 'What is wrong' },
      status: { type: 'integer', description: 'The HTTP status' },
      detail: { type: 'string', description: 'What to do, in one sentence' },
      code: { type: 'string', description: 'Stable name of the problem, for programs' },
      request_id: { type: 'string', description: 'Id of the request in the server logs' },
      errors: { type: 'array', items: { $ref: '#/components/schemas/InputError' } },
    },
    required: ['type', 'title', 'status', 'detail', 'code', 'request_id'],
  },
  InputError: {
    type: 'object',
    description: 'One mistake in an invalid request.',
    properties: {
      path: { type: 'string', description: 'Where the mistake is, such as `body/title`' },
      message: { type: 'string', description: 'What a valid value looks like' },
      code: {
        type: 'string',
        description: 'The code of a warning that `strict=true` turned into an error',
      },
    },
    required: ['path', 'message'],
  },
};

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
  const schema = { $ref: '#/components/schemas/Problem' };
  const headers = failureHeaders(status, kinds);
  const page = {
    'text/html': {
      schema: { type: 'string', description: 'The problem as an HTML page, for clients that prefer HTML' },
    },
  };
  return {
    description: lines.join('\n'),
    'x-problem-codes': kinds.map(({ code }) => code),
    ...(Object.keys(headers).length > 0 && { headers }),
    content: { 'application/problem+json': { schema }, ...(pages && page) },
  };
}
