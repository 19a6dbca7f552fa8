/** Reads the OpenAPI document for the generators of the clients. */

/** The parts of an OpenAPI document that the client is generated from. */
export interface ApiDocument {
  info: { version: string };
  paths: Record<string, Record<string, ApiOperation>>;
  webhooks?: Record<string, { post: ApiOperation }>;
  components?: {
    schemas?: Record<string, { properties?: Record<string, ApiSchema> }>;
    responses?: Record<string, unknown>;
    headers?: Record<string, unknown>;
  };
}

/** An operation of the document. */
export interface ApiOperation {
  operationId: string;
  summary?: string;
  description?: string;
  security?: readonly Readonly<Record<string, unknown>>[];
  parameters?: (ApiParameter | { $ref: string })[];
  requestBody?: { $ref: string } | ApiBody;
  responses: Record<string, ApiResponse>;
}

/** A parameter of an operation. */
export interface ApiParameter {
  name: string;
  in: string;
  required?: boolean;
  schema: ApiSchema;
}

/** A JSON schema; only what parameters and bodies use. */
export interface ApiSchema {
  $ref?: string;
  type?: string;
  format?: string;
  enum?: string[];
  items?: ApiSchema;
  anyOf?: ApiSchema[];
}

interface ApiBody {
  required?: boolean;
  content: Record<string, { schema: ApiSchema }>;
}

interface ApiResponse {
  $ref?: string;
  content?: Record<string, { schema?: ApiSchema }>;
  headers?: Record<string, unknown>;
  'x-problem-codes'?: string[];
}

/** How a client sends an operation. */
export interface OperationFacts {
  method: string;
  path: string;
  body: 'json' | 'form' | 'none';
  returns: 'json' | 'file' | 'nothing';
  takesIdempotencyKey?: true;
  isPaged?: true;
  hasCsv?: true;
  isHtml?: true;
  isPublic?: true;
  takesPassword?: true;
}

/** Reads how to send an operation. */
export function getFacts(
  document: ApiDocument,
  { method, path, operation }: { method: string; path: string; operation: ApiOperation },
): OperationFacts {
  return {
    method: method.toUpperCase(),
    path,
    body: getBodyKind(document, operation),
    returns: getResultKind(document, operation),
    ...(hasParameter(document, operation, 'Idempotency-Key') && { takesIdempotencyKey: true }),
    ...(hasParameter(document, operation, 'cursor') && { isPaged: true }),
    ...(hasCsv(document, operation) && { hasCsv: true }),
    ...(isHtml(document, operation) && { isHtml: true }),
    ...(operation.security && { isPublic: true }),
    ...(operation.security?.some((scheme) => 'password' in scheme) && { takesPassword: true }),
  };
}

/** Lists the operations of the document, in its order. */
export function listOperations({ paths }: ApiDocument) {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([method]) => ['get', 'put', 'post', 'patch', 'delete'].includes(method))
      .map(([method, operation]) => ({ path, method, operation })),
  );
}

/** Lists the operations of a client: without the targets of forms, which redirect browsers and give them a cookie. */
export function listClientOperations(document: ApiDocument) {
  return listOperations(document).filter(({ operation }) => !('303' in operation.responses));
}

function getBodyKind(document: ApiDocument, { requestBody }: ApiOperation): 'json' | 'form' | 'none' {
  const content = requestBody && resolveReference(document, requestBody).content;
  if (!content) return 'none';
  return 'multipart/form-data' in content ? 'form' : 'json';
}

function getResultKind(document: ApiDocument, operation: ApiOperation): 'json' | 'file' | 'nothing' {
  const types = listTypes(document, operation);
  if (types.length === 0) return 'nothing';
  return types.includes('application/json') ? 'json' : 'file';
}

/** Whether the file of the result is a page. */
function isHtml(document: ApiDocument, operation: ApiOperation): boolean {
  return (
    getResultKind(document, operation) === 'file' && listTypes(document, operation).includes('text/html')
  );
}

/** The media types of the responses of success. */
function listTypes(document: ApiDocument, operation: ApiOperation): string[] {
  return listSuccesses(document, operation).flatMap(([, { content = {} }]) => Object.keys(content));
}

/** Whether `format=csv` returns a file instead of JSON. */
function hasCsv(document: ApiDocument, operation: ApiOperation): boolean {
  return listSuccesses(document, operation).some(
    ([, { content = {} }]) => 'application/json' in content && 'text/csv' in content,
  );
}

/** Whether an operation has a parameter in any place. */
export function hasParameter(
  document: ApiDocument,
  { parameters = [] }: ApiOperation,
  name: string,
): boolean {
  return parameters.some((parameter) => resolveReference(document, parameter).name === name);
}

/** Lists the responses of success by their status. */
export function listSuccesses(document: ApiDocument, { responses }: ApiOperation): [string, ApiResponse][] {
  return Object.entries(responses)
    .filter(([status]) => status.startsWith('2'))
    .map(([status, response]) => [status, resolveReference(document, response)]);
}

/** The object itself, or what its `$ref` refers to. */
export function resolveReference<T extends object>(
  document: ApiDocument,
  object: T,
): Exclude<T, { $ref: string }> {
  // an object with `$ref` has no other fields, and what it refers to has the type of the place where it is used
  type Resolved = Exclude<T, { $ref: string }>;
  if (!('$ref' in object) || typeof object.$ref !== 'string') return object as Resolved;
  const names = object.$ref.replace('#/', '').split('/');
  return names.reduce((at: unknown, name) => (at as Record<string, unknown>)[name], document) as Resolved;
}

/** The problem codes of all error responses, sorted. */
export function listCodes(document: ApiDocument): string[] {
  const responses = listOperations(document).flatMap(({ operation }) => Object.values(operation.responses));
  const codes = responses.flatMap(
    (response) => resolveReference(document, response)['x-problem-codes'] ?? [],
  );
  return [...new Set(codes)].sort();
}
