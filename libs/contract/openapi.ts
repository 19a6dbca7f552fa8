/** Generates the OpenAPI 3.1 document of a set of contracts. */
import type { z } from 'zod';
import type { AnyOperation, Contract } from './contract.ts';
import { describeDeprecation } from './deprecation.ts';
import { type Example, type Examples, findResponseExample, toExample } from './examples.ts';
import { type NamedSchemas, namedSchemas, type Schema, toRecord } from './json-schema.ts';
import type { FormBody, Media, Multipart } from './media.ts';
import { problemSchemas, sharedProblemResponses, toProblemResponses } from './problem-responses.ts';
import { hasEtag, type RequestHeader, requestHeaders } from './protocol.ts';
import { sharedHeaders, successHeaders } from './response-headers.ts';
import { toWebhooks } from './webhook-payloads.ts';

/** General information about the API. */
export interface ApiInfo {
  title: string;
  version: string;
  /** The introduction, as Markdown. */
  description: string;
  contact: { name: string };
  license: { name: string; identifier: string };
  /** Where the API runs. A relative URL is relative to that of the document. */
  servers: readonly { url: string; description: string }[];
  /** Precedes the paths of API operations. */
  apiPrefix: string;
  /** The operations in the order of the document. Each operation is in exactly one group. */
  groups: readonly OperationGroup[];
  examples: Examples;
}

/** Operations that a reader looks for together; a tag of the document. */
export interface OperationGroup {
  name: string;
  description: string;
  /** Ids of operations. */
  operations: readonly string[];
}

/**
 * Returns the OpenAPI 3.1 document of all operations, schemas and problems in `contracts`. Events that a
 * webhook can subscribe to become OpenAPI webhooks. Throws if an operation is not in exactly one group.
 */
export function openapi(contracts: readonly Contract[], info: ApiInfo): Schema {
  const schemas = namedSchemas(problemSchemas);
  const paths: Record<string, Record<string, Schema>> = {};
  const responses = sharedProblemResponses(contracts.flatMap(({ operations }) => operations));
  for (const { group, operation } of listInOrder(contracts, info.groups)) {
    const path = operation.at === 'root' ? operation.path : info.apiPrefix + operation.path;
    paths[path] ??= {};
    const examples = info.examples.operations[operation.id] ?? [];
    paths[path][operation.method] = toOperationObject(operation, group, { schemas, responses, examples });
  }
  const { title, version, description, contact, license } = info;
  return {
    openapi: '3.1.0',
    info: { title, version, description, contact, license },
    servers: info.servers,
    tags: info.groups.map(({ name, description }) => ({ name, description })),
    security: [{ bearer: [] }],
    paths,
    webhooks: toWebhooks(
      contracts.flatMap(({ publishes }) => publishes),
      schemas,
      info.examples.webhooks,
    ),
    components: {
      securitySchemes: {
        bearer: {
          type: 'http',
          scheme: 'bearer',
          description: 'An API key (`pds_…`) or an access token from `POST /auth/login`.',
        },
        password: {
          type: 'http',
          scheme: 'basic',
          description: 'The password of a public link, if it has one. The user name can be any text.',
        },
      },
      headers: sharedHeaders,
      responses,
      schemas: schemas.components,
    },
  };
}

function listInOrder(contracts: readonly Contract[], groups: readonly OperationGroup[]) {
  const operations = new Map(contracts.flatMap((one) => one.operations).map((one) => [one.id, one]));
  const listed = groups.flatMap((group) => group.operations.map((id) => ({ id, group: group.name })));
  const names = new Set(listed.map(({ id }) => id));
  const wrong = [
    ...[...operations.keys()].filter((id) => !names.has(id)).map((id) => `${id} is in no group`),
    ...[...names].filter((id) => !operations.has(id)).map((id) => `${id} is not an operation`),
    ...(names.size < listed.length ? ['an operation is in two groups'] : []),
  ];
  if (wrong.length > 0) throw new Error(`Groups of operations: ${wrong.join(', ')}`);
  return listed.flatMap(({ id, group }) => {
    const operation = operations.get(id);
    return operation ? [{ group, operation }] : [];
  });
}

/** What the description of an operation needs beside the operation. */
interface Parts {
  schemas: NamedSchemas;
  responses: Record<string, Schema>;
  examples: readonly Example[];
}

function toOperationObject(operation: AnyOperation, tag: string, parts: Parts): Schema {
  const { schemas, responses, examples } = parts;
  const [example = {}] = examples;
  const request = operation.body ? { requestBody: toRequestBody(operation, schemas, example) } : {};
  return {
    operationId: operation.id,
    tags: [tag],
    summary: operation.summary,
    ...(operation.deprecated && { deprecated: true }),
    description: [
      operation.deprecated && describeDeprecation(operation.deprecated),
      operation.description,
      operation.access.description,
    ]
      .filter(Boolean)
      .join('\n\n'),
    ...(!operation.access.authenticated && {
      security: operation.access.takesPassword ? [{}, { password: [] }] : [],
    }),
    parameters: [
      ...toParameters(operation.params, 'path', schemas, example.params),
      ...toParameters(operation.query, 'query', schemas, example.query),
      ...requestHeaders(operation).map(toHeaderParameter),
    ],
    ...request,
    responses: {
      [operation.status]: toSuccessResponse(operation, schemas, examples),
      ...(operation.existingStatus && {
        [operation.existingStatus]: toSuccessResponse(operation, schemas, examples, 'It existed already'),
      }),
      ...(hasEtag(operation) && { 304: { description: 'Not modified since the ETag you sent' } }),
      ...toProblemResponses(operation, responses),
    },
  };
}

function toHeaderParameter({ name, description, pattern }: RequestHeader): Schema {
  const schema = { type: 'string', ...(pattern !== undefined && { pattern }) };
  return { name, in: 'header', required: false, description, schema };
}

/** The body is a component with the name of the operation: `CreateDocument` for `createDocument`. */
function toRequestBody(operation: AnyOperation, schemas: NamedSchemas, example: Example): Schema {
  const body: z.ZodType | Multipart | FormBody = operation.body;
  const name = operation.id.replace(/^./, (letter) => letter.toUpperCase());
  if ('safeParse' in body) {
    const schema = schemas.add(name, schemas.convert(body, 'input'));
    const content = { schema, ...toExample(example.body) };
    return { required: !body.safeParse(undefined).success, content: { 'application/json': content } };
  }
  if ('form' in body) {
    const schema = schemas.add(name, schemas.convert(body.form, 'input'));
    const content = { schema, ...toExample(example.body) };
    return { required: true, content: { 'application/x-www-form-urlencoded': content } };
  }
  const fields = schemas.convert(body.fields, 'input');
  // an example of the whole form would have to contain the file
  const values = toRecord(example.body);
  const properties = {
    ...Object.fromEntries(
      Object.entries(toRecord(fields.properties)).map(([field, schema]) => [
        field,
        { ...schema, ...(field in values && { examples: [values[field]] }) },
      ]),
    ),
    [body.file]: { type: 'string', format: 'binary' },
  };
  const required = [...(Array.isArray(fields.required) ? fields.required : []), body.file];
  const schema = schemas.add(name, { ...fields, properties, required });
  return { required: true, content: { 'multipart/form-data': { schema } } };
}

function toSuccessResponse(
  operation: AnyOperation,
  schemas: NamedSchemas,
  examples: readonly Example[],
  description = operation.summary,
): Schema {
  const headers = successHeaders(operation);
  const response = { description, headers };
  const returns: z.ZodType | Media = operation.returns;
  if ('media' in returns) {
    const bodies = Object.entries(returns.media).map(([type, content]) => {
      const schema = content.schema ? schemas.convert(content.schema, 'output') : toRawSchema(type, content);
      return [type, { schema, ...findResponseExample(examples, type) }];
    });
    return { ...response, content: Object.fromEntries(bodies) };
  }
  if (operation.status === 204 || operation.status === 303) return response;
  const type = 'application/json';
  const schema = schemas.convert(returns, 'output');
  return { ...response, content: { [type]: { schema, ...findResponseExample(examples, type) } } };
}

/** The schema of content that is not JSON. Generators return bytes for `format: binary`, otherwise a text. */
function toRawSchema(type: string, { description }: { description: string }): Schema {
  return { type: 'string', ...(!type.startsWith('text/') && { format: 'binary' }), description };
}

function toParameters(
  shape: z.ZodType | undefined,
  location: 'path' | 'query',
  schemas: NamedSchemas,
  values: Readonly<Record<string, unknown>> = {},
): Schema[] {
  if (!shape) return [];
  const object = schemas.convert(shape, 'input');
  const required = new Set(Array.isArray(object.required) ? object.required : []);
  return Object.entries(toRecord(object.properties)).map(([name, { description, ...schema }]) => ({
    name,
    in: location,
    required: location === 'path' || required.has(name),
    ...(description !== undefined && { description }),
    schema,
    ...toExample(values[name]),
  }));
}
