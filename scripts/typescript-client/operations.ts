/** Renders the operations of the OpenAPI document as a table, with what the client must know to send them. */

/** The parts of an OpenAPI document that the client is generated from. */
export interface ApiDocument {
  info: { version: string };
  paths: Record<string, Record<string, ApiOperation>>;
  components?: { responses?: Record<string, unknown>; headers?: Record<string, unknown> };
}

interface ApiOperation {
  operationId: string;
  summary?: string;
  description?: string;
  security?: readonly unknown[];
  parameters?: ({ name: string; in: string } | { $ref: string })[];
  requestBody?: { $ref: string } | { content: Record<string, unknown> };
  responses: Record<string, ApiResponse>;
}

interface ApiResponse {
  $ref?: string;
  content?: Record<string, unknown>;
  headers?: Record<string, unknown>;
  'x-problem-codes'?: string[];
}

/** A copy without the responses of errors and without response headers: the client has its own types for them. */
export function withoutErrorResponses(document: ApiDocument): ApiDocument {
  const copy = structuredClone(document);
  for (const { operation } of listOperations(copy))
    operation.responses = Object.fromEntries(
      listSuccesses(document, operation).map(([status, { headers: _, ...response }]) => [status, response]),
    );
  if (copy.components) {
    copy.components.responses = {};
    copy.components.headers = {};
  }
  return copy;
}

/** Renders the table of the operations, an interface with their descriptions, and the codes of all problems. */
export function renderOperations(document: ApiDocument): string {
  const entries = listOperations(document).map(({ method, path, operation }) => {
    const facts = {
      method: method.toUpperCase(),
      path,
      body: getBodyKind(document, operation),
      returns: getResultKind(document, operation),
      ...(hasParameter(document, operation, 'Idempotency-Key') && { takesIdempotencyKey: true }),
      ...(hasParameter(document, operation, 'cursor') && { isPaged: true }),
      ...(operation.security?.length === 0 && { isPublic: true }),
    };
    return { operation, facts };
  });
  const types = entries.map(
    ({ operation: { operationId, summary, description } }) =>
      `${comment([summary, description])}  ${operationId}: operations['${operationId}'];\n`,
  );
  const rows = entries.map(
    ({ operation, facts }) => `  ${operation.operationId}: ${JSON.stringify(facts)},\n`,
  );
  return `/** The operations of the API. */
import type { operations } from './contract.ts';

/** The version of the API that this client was generated from. */
export const apiVersion = ${JSON.stringify(document.info.version)};

/** The operations by their ids. */
export interface Operations {
${types.join('')}}

/** How to send each operation. */
export const operationTable = {
${rows.join('')}} as const;

/** The codes of all problems in the contract. */
export type KnownProblemCode = ${listCodes(document)
    .map((code) => JSON.stringify(code))
    .join(' | ')};
`;
}

function listOperations({ paths }: ApiDocument) {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([method]) => ['get', 'put', 'post', 'patch', 'delete'].includes(method))
      .map(([method, operation]) => ({ path, method, operation })),
  );
}

function getBodyKind(document: ApiDocument, { requestBody }: ApiOperation): 'json' | 'form' | 'none' {
  const content = requestBody && resolveReference(document, requestBody).content;
  if (!content) return 'none';
  return 'multipart/form-data' in content ? 'form' : 'json';
}

function getResultKind(document: ApiDocument, operation: ApiOperation): 'json' | 'file' | 'nothing' {
  const types = listSuccesses(document, operation).flatMap(([, { content = {} }]) => Object.keys(content));
  if (types.length === 0) return 'nothing';
  return types.includes('application/json') ? 'json' : 'file';
}

function hasParameter(document: ApiDocument, { parameters = [] }: ApiOperation, name: string): boolean {
  return parameters.some((parameter) => resolveReference(document, parameter).name === name);
}

function listSuccesses(document: ApiDocument, { responses }: ApiOperation): [string, ApiResponse][] {
  return Object.entries(responses)
    .filter(([status]) => status.startsWith('2'))
    .map(([status, response]) => [status, resolveReference(document, response)]);
}

/** The object itself, or what its `$ref` refers to. */
function resolveReference<T extends object>(document: ApiDocument, object: T): Exclude<T, { $ref: string }> {
  // an object with `$ref` has no other fields, and what it refers to has the type of the place where it is used
  type Resolved = Exclude<T, { $ref: string }>;
  if (!('$ref' in object) || typeof object.$ref !== 'string') return object as Resolved;
  const names = object.$ref.replace('#/', '').split('/');
  return names.reduce((at: unknown, name) => (at as Record<string, unknown>)[name], document) as Resolved;
}

/** The problem codes of all error responses, sorted. */
function listCodes(document: ApiDocument): string[] {
  const responses = listOperations(document).flatMap(({ operation }) => Object.values(operation.responses));
  const codes = responses.flatMap(
    (response) => resolveReference(document, response)['x-problem-codes'] ?? [],
  );
  return [...new Set(codes)].sort();
}

function comment(texts: (string | undefined)[]): string {
  const lines = texts.flatMap((text) => (text ? [...text.replaceAll('*/', '*\\/').split('\n'), ''] : []));
  return `  /**\n${lines
    .slice(0, -1)
    .map((line) => `   * ${line}`.trimEnd())
    .join('\n')}\n   */\n`;
}
