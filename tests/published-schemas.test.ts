/** Tests that the API reference is as strict as the services: operations accept what their schemas accept. */
import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { type AnyOperation, openapi } from '#libs/contract';
import { about } from '../services/about.ts';
import { apiReference } from '../services/api-reference.ts';
import { contracts } from '../services/contracts.ts';

type Json = { [name: string]: unknown };
interface Parameter {
  name: string;
  in: string;
  required: boolean;
  schema: Json;
}

const document = z
  .object({ paths: z.record(z.string(), z.record(z.string(), z.unknown())), components: z.looseObject({}) })
  .parse(openapi(contracts, apiReference));
const definitions = toRecord(document.components.schemas);
const operations: AnyOperation[] = contracts.flatMap((contract) => [...contract.operations]);
const withBody = operations.filter(({ body }) => body && !('file' in body) && !('form' in body));

describe('the published schemas', () => {
  test.each(withBody)('$id accepts every body that its schema accepts', (operation) => {
    const { requestBody } = getPublished(operation);
    const content = toRecord(toRecord(requestBody).content);
    compare(toRecord(toRecord(content['application/json']).schema), operation.body);
  });

  test.each(operations.filter(({ body }) => body && 'form' in body))(
    '$id accepts every form that its schema accepts',
    (operation) => {
      const content = toRecord(toRecord(getPublished(operation).requestBody).content);
      const { schema } = toRecord(content['application/x-www-form-urlencoded']);
      compare(toRecord(schema), operation.body.form, toTexts);
    },
  );

  test.each(operations.filter(({ body }) => body && 'file' in body))(
    '$id accepts all fields that its schema accepts',
    (operation) => {
      const { requestBody } = getPublished(operation);
      const content = toRecord(toRecord(requestBody).content);
      const { properties, required, ...schema } = resolve(toRecord(content['multipart/form-data']).schema);
      const { [operation.body.file]: _, ...fields } = toRecord(properties);
      const names = (Array.isArray(required) ? required : []).filter((name) => name in fields);
      compare({ ...schema, properties: fields, required: names }, operation.body.fields, toTexts);
    },
  );

  test.each(operations.filter(({ query }) => query))(
    '$id accepts every query that its schema accepts',
    (operation) => {
      const parameters = getPublished(operation).parameters.filter((parameter) => parameter.in === 'query');
      const properties = Object.fromEntries(parameters.map(({ name, schema }) => [name, schema]));
      const required = parameters.filter((parameter) => parameter.required).map(({ name }) => name);
      const schema = { type: 'object', properties, required, additionalProperties: false };
      compare(schema, operation.query, toTexts);
    },
  );

  test('empty PATCH bodies, blank names and unknown flags are rejected', () => {
    const accepts = (id: string, value: unknown) => {
      const operation = operations.find((each) => each.id === id);
      const { requestBody, parameters } = getPublished(operation);
      const content = toRecord(toRecord(requestBody).content);
      const unread = parameters.find(({ name }) => name === 'unread')?.schema;
      return toValidator(unread ?? resolve(toRecord(content['application/json']).schema)).safeParse(value)
        .success;
    };
    for (const { id } of operations.filter(({ method }) => method === 'patch'))
      expect([id, accepts(id, {})]).toEqual([id, false]);
    for (const title of ['', ' ', '\u3000']) expect(accepts('createDocument', { title })).toBe(false);
    expect([true, false, '1', 'yes', ''].filter((value) => accepts('listInbox', value))).toEqual([
      true,
      false,
    ]);
  });
});

/** What is sent for a query or a form: it contains texts, so other values become texts. */
function toTexts(value: unknown): unknown {
  const entries = Object.entries(toRecord(value)).filter(([, field]) => field !== undefined);
  return Object.fromEntries(
    entries.map(([name, field]) => [name, Array.isArray(field) ? field : String(field)]),
  );
}

/** The schema that a reference points to. */
function resolve(schema: unknown): Json {
  const { $ref } = toRecord(schema);
  return typeof $ref === 'string' ? toRecord(definitions[$ref.split('/').at(-1) ?? '']) : toRecord(schema);
}

/** Generates values for a schema, and expects that the shape accepts each value that the schema accepts. */
function compare(schema: Json, shape: z.ZodType, send: (value: unknown) => unknown = (value) => value): void {
  const validator = toValidator(schema);
  const values = generate(schema);
  const accepted = values.filter((value) => validator.safeParse(value).success);
  expect(accepted.length).toBeGreaterThan(0);
  const rejected = accepted.flatMap((value) => {
    const { error } = shape.safeParse(send(value));
    return error ? [{ value, issues: error.issues }] : [];
  });
  expect(rejected).toEqual([]);
}

function toValidator(schema: Json): z.ZodType {
  const whole: Json = { ...schema, $defs: definitions };
  return z.fromJSONSchema(
    JSON.parse(JSON.stringify(whole).replaceAll('"#/components/schemas/', '"#/$defs/')),
  );
}

const texts = [
  '',
  ' ',
  'a',
  ' a ',
  'true',
  '1',
  '2.5',
  '4',
  'default',
  'a@b.example',
  '@b.example',
  'acme-inc',
  'Acme',
  'https://a.example',
  'https://a.example/hook?a=1#part',
  'https://.',
  'https://*',
  'http://a.example',
  'ftp://a.example',
  '2026-11-21T09:30:00Z',
  '2026-11-21',
  '01890a5d-ac96-774b-bcce-b302099a8057',
  `sha256:${'0'.repeat(64)}`,
];
const lengths = [11, 12, 64, 65, 200, 201, 256, 257, 300, 301];
const longTexts = lengths.flatMap((length) => ['x'.repeat(length), '😀'.repeat(length)]);
const scalars = [...texts, ...longTexts, 0, 1, -1, 1.5, 1e308, 100, 101, 604_800, 604_801, true, false, null];

/** Generates values around a schema: valid ones and ones with one mistake. */
function generate(schema: Json, depth = 0): unknown[] {
  const { $ref, anyOf, oneOf = anyOf, enum: choices, const: constant, type, properties, items } = schema;
  if (typeof $ref === 'string') {
    const name = $ref.split('/').at(-1) ?? '';
    return depth > 4 ? [{}] : generate(toRecord(definitions[name]), depth + 1);
  }
  if (Array.isArray(oneOf)) return oneOf.flatMap((alternative) => generate(toRecord(alternative), depth));
  if (Array.isArray(choices)) return [...choices, ...scalars];
  if (constant !== undefined) return [constant, ...scalars];
  if (type === 'array') {
    const values = generate(toRecord(items), depth + 1);
    return [[], ...values.slice(0, 60).map((value) => [value]), 'a', null];
  }
  if (type !== 'object') return scalars;
  return generateObjects(toRecord(properties), Array.isArray(schema.required) ? schema.required : [], depth);
}

/** Objects with valid required fields, of which one field at a time has another value. */
function generateObjects(properties: Json, required: readonly string[], depth: number): unknown[] {
  const values = Object.entries(properties).map(([name, property]) => {
    const all = generate(toRecord(property), depth + 1);
    const validator = toValidator(toRecord(property));
    return { name, all, valid: all.filter((value) => validator.safeParse(value).success) };
  });
  const base = Object.fromEntries(
    values.filter(({ name }) => required.includes(name)).map(({ name, valid }) => [name, valid[0]]),
  );
  const changed = values.flatMap(({ name, all }) => all.map((value) => ({ ...base, [name]: value })));
  const whole = Object.fromEntries(values.map(({ name, valid }) => [name, valid[0]]));
  const incomplete = required.map((name) => ({ ...base, [name]: undefined }));
  return [base, {}, whole, { ...base, unknown: 1 }, ...incomplete, ...changed, null, 'a', []];
}

function getPublished(operation: AnyOperation | undefined): {
  requestBody: unknown;
  parameters: Parameter[];
} {
  if (!operation) throw new Error('There is no such operation');
  const path = operation.at === 'root' ? operation.path : about.apiPrefix + operation.path;
  const { requestBody, parameters } = toRecord(document.paths[path]?.[operation.method]);
  const shape = z.object({
    name: z.string(),
    in: z.string(),
    required: z.boolean(),
    schema: z.looseObject({}),
  });
  return { requestBody, parameters: z.array(shape).parse(parameters) };
}

function toRecord(value: unknown): Json {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}
