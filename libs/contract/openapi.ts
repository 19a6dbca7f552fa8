/** Generates the OpenAPI 3.1 document of a set of contracts. */
import { z } from 'zod';
import type { AnyOperation, Contract } from './contract.ts';
import type { Media, Multipart } from './media.ts';
import { sharedProblemResponses, toProblemResponses } from './problem-responses.ts';
import { hasEtag, type RequestHeader, requestHeaders } from './protocol.ts';
import { sharedHeaders, successHeaders } from './response-headers.ts';

type Schema = Record<string, unknown>;

/** General information about the API. `apiPrefix` precedes the paths of API operations. */
export interface ApiInfo {
  title: string;
  version: string;
  description: string;
  apiPrefix: string;
}

/**
 * Returns the OpenAPI 3.1 document of all operations, schemas and problems in `contracts`. Events that a
 * webhook can subscribe to become OpenAPI webhooks.
 */
export function openapi(contracts: readonly Contract[], info: ApiInfo): Schema {
  const schemas: Record<string, Schema> = { Problem: problemSchema };
  const paths: Record<string, Record<string, Schema>> = {};
  const responses = sharedProblemResponses(contracts.flatMap(({ operations }) => operations));
  for (const { name, operations } of contracts) {
    for (const operation of operations) {
      const path = operation.at === 'root' ? operation.path : info.apiPrefix + operation.path;
      paths[path] ??= {};
      paths[path][operation.method] = toOperationObject(operation, name, { schemas, responses });
    }
  }
  const webhooks = Object.fromEntries(
    contracts
      .flatMap((contract) => contract.publishes)
      .filter((event) => event.subscribable)
      .map((event) => [
        event.name,
        toWebhookObject(event.name, event.description, toJsonSchema(event.data, 'output', schemas)),
      ]),
  );
  return {
    openapi: '3.1.0',
    info: { title: info.title, version: info.version, description: info.description },
    servers: [{ url: '/' }],
    tags: contracts.map((contract) => ({ name: contract.name, description: contract.description })),
    security: [{ bearer: [] }],
    paths,
    webhooks,
    components: {
      securitySchemes: {
        bearer: {
          type: 'http',
          scheme: 'bearer',
          description: 'An API key (`pds_…`) or an access token from `POST /auth/login`.',
        },
      },
      headers: sharedHeaders,
      responses,
      schemas,
    },
  };
}

function toOperationObject(
  operation: AnyOperation,
  tag: string,
  { schemas, responses }: Record<'schemas' | 'responses', Record<string, Schema>>,
): Schema {
  const request = operation.body ? { requestBody: toRequestBody(operation.body, schemas) } : {};
  return {
    operationId: operation.id,
    tags: [tag],
    summary: operation.summary,
    description: [operation.description, operation.access.description].filter(Boolean).join('\n\n'),
    ...(operation.access.authenticated ? {} : { security: [] }),
    parameters: [
      ...toParameters(operation.params, 'path', schemas),
      ...toParameters(operation.query, 'query', schemas),
      ...requestHeaders(operation).map(toHeaderParameter),
    ],
    ...request,
    responses: {
      [operation.status]: toSuccessResponse(operation, schemas),
      ...(hasEtag(operation) && { 304: { description: 'Not modified since the ETag you sent' } }),
      ...toProblemResponses(operation, responses),
    },
  };
}

function toHeaderParameter({ name, description, pattern }: RequestHeader): Schema {
  const schema = { type: 'string', ...(pattern !== undefined && { pattern }) };
  return { name, in: 'header', required: false, description, schema };
}

function toRequestBody(body: z.ZodType | Multipart, schemas: Record<string, Schema>): Schema {
  if ('safeParse' in body) {
    return {
      required: !body.safeParse(undefined).success,
      content: { 'application/json': { schema: toJsonSchema(body, 'input', schemas) } },
    };
  }
  const fields = toJsonSchema(body.fields, 'input', schemas);
  const properties = {
    ...toRecord(fields.properties),
    [body.file]: { type: 'string', contentMediaType: 'application/octet-stream' },
  };
  const required = [...(Array.isArray(fields.required) ? fields.required : []), body.file];
  return {
    required: true,
    content: { 'multipart/form-data': { schema: { ...fields, properties, required } } },
  };
}

function toSuccessResponse(operation: AnyOperation, schemas: Record<string, Schema>): Schema {
  const headers = successHeaders(operation);
  const returns: z.ZodType | Media = operation.returns;
  if ('media' in returns) {
    const bodies = Object.entries(returns.media).map(([type, content]) => [
      type,
      content.schema
        ? { schema: toJsonSchema(content.schema, 'output', schemas) }
        : { schema: { description: content.description } },
    ]);
    return { description: operation.summary, headers, content: Object.fromEntries(bodies) };
  }
  if (returns instanceof z.ZodVoid) return { description: operation.summary, headers };
  return {
    description: operation.summary,
    headers,
    content: { 'application/json': { schema: toJsonSchema(returns, 'output', schemas) } },
  };
}

function toWebhookObject(name: string, summary: string, data: Schema): Schema {
  const properties = {
    id: { type: 'string' },
    event_type: { const: name },
    timestamp: { type: 'string' },
    organization_id: { type: 'string' },
    data,
  };
  const schema = { type: 'object', properties, required: Object.keys(properties) };
  return {
    post: {
      operationId: `on ${name}`,
      summary,
      requestBody: { content: { 'application/json': { schema } } },
      responses: { '2XX': { description: 'Received' } },
    },
  };
}

function toParameters(
  shape: z.ZodType | undefined,
  location: 'path' | 'query',
  schemas: Record<string, Schema>,
): Schema[] {
  if (!shape) return [];
  const object = toJsonSchema(shape, 'input', schemas);
  const required = new Set(Array.isArray(object.required) ? object.required : []);
  return Object.entries(toRecord(object.properties)).map(([name, schema]) => ({
    name,
    in: location,
    required: location === 'path' || required.has(name),
    schema,
  }));
}

/** Converts a zod shape to JSON Schema. Named shapes are added to `schemas` and referenced with `$ref`. */
function toJsonSchema(shape: z.ZodType, io: 'input' | 'output', schemas: Record<string, Schema>): Schema {
  const whole: Schema = z.toJSONSchema(shape, { io, unrepresentable: 'any' });
  const {
    $schema: _,
    $defs,
    ...schema
  } = JSON.parse(JSON.stringify(whole).replaceAll('"#/$defs/', '"#/components/schemas/'));
  for (const [name, definition] of Object.entries(toRecord($defs))) schemas[name] = toRecord(definition);
  return schema;
}

function toRecord(value: unknown): Record<string, Schema> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

const problemSchema: Schema = {
  type: 'object',
  description: 'An error in the format of RFC 9457. `code` is stable.',
  properties: {
    type: { type: 'string' },
    title: { type: 'string' },
    status: { type: 'integer' },
    detail: { type: 'string', description: 'What to do, in one sentence' },
    code: { type: 'string' },
    request_id: { type: 'string' },
    errors: {
      type: 'array',
      items: {
        type: 'object',
        properties: {
          path: { type: 'string' },
          message: { type: 'string' },
          code: {
            type: 'string',
            description: 'The code of a warning that `strict=true` turned into an error',
          },
        },
      },
    },
  },
  required: ['type', 'title', 'status', 'detail', 'code', 'request_id'],
};
