/** Tests that the generated API reference is a valid and complete OpenAPI 3.1 document. */
import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { apiReference } from '../../services/api-reference.ts';
import { contracts } from '../../services/contracts.ts';
import { anyone } from './access.ts';
import { contract } from './contract.ts';
import type { Examples } from './examples.ts';
import { form, media, multipart } from './media.ts';
import { openapi } from './openapi.ts';
import { operation } from './operation.ts';
import * as shared from './problems.ts';
import { getProblems } from './protocol.ts';

const { contact, license } = apiReference;
const info = { ...apiReference, title: 't', version: '1', description: 'd' };
// biome-ignore lint/suspicious/noExplicitAny: the tests read the generated document without types
type AnyJson = any;
const document: AnyJson = openapi(contracts, info);

/** Returns the component that `$ref` points to, or undefined if there is none. */
const find = ($ref: string): AnyJson =>
  $ref.startsWith('#/components/')
    ? $ref
        .slice(2)
        .split('/')
        .reduce((node: AnyJson, key) => node?.[key], document)
    : undefined;

/** The operation as a client sees it: its responses and their headers without references. */
const withoutReferences = (operation: AnyJson): AnyJson => {
  const resolve = (node: AnyJson) => (node.$ref && find(node.$ref)) || node;
  const resolveAll = (nodes: AnyJson) =>
    Object.fromEntries(Object.entries(nodes).map(([key, node]) => [key, resolve(node)]));
  const responses = Object.entries<AnyJson>(resolveAll(operation.responses)).map(([status, response]) => [
    status,
    response.headers ? { ...response, headers: resolveAll(response.headers) } : response,
  ]);
  return { ...operation, responses: Object.fromEntries(responses) };
};

const documented: { path: string; method: string; operation: AnyJson }[] = Object.entries(
  document.paths as AnyJson,
).flatMap(([path, item]) =>
  Object.entries(item as AnyJson).map(([method, operation]) => ({
    path,
    method,
    operation: withoutReferences(operation),
  })),
);

const walk = (value: unknown, see: (node: Record<string, unknown>, at: string) => void, at = '#'): void => {
  // an example is data, not a part of the document
  if (typeof value !== 'object' || value === null || at.endsWith('/example')) return;
  if (!Array.isArray(value)) see(value as Record<string, unknown>, at);
  for (const [key, child] of Object.entries(value)) walk(child, see, `${at}/${key}`);
};

describe('the OpenAPI document of all contracts', () => {
  test('has every operation once, at its path, with a unique id', () => {
    const declared = contracts.flatMap(({ operations }) => operations);
    expect(documented.map(({ operation }) => operation.operationId).sort()).toEqual(
      declared.map(({ id }) => id).sort(),
    );
    expect(new Set(declared.map(({ id }) => id)).size).toBe(declared.length);
    for (const { path, method } of documented) {
      expect(path).toMatch(/^\/[A-Za-z0-9_./{}-]*$/);
      expect(['get', 'post', 'put', 'patch', 'delete']).toContain(method);
    }
  });

  test('has the top-level structure of OpenAPI 3.1', () => {
    expect(document.openapi).toMatch(/^3\.1\.\d$/);
    expect(document.info).toEqual({ title: 't', version: '1', description: 'd', contact, license });
    const known = 'openapi info servers tags security paths webhooks components'.split(' ');
    expect(Object.keys(document).filter((key) => !known.includes(key))).toEqual([]);
    const tags = document.tags.map(({ name }: { name: string }) => name);
    for (const { operation } of documented) for (const tag of operation.tags) expect(tags).toContain(tag);
    // plain JSON: nothing is lost when it is serialized
    expect(JSON.parse(JSON.stringify(document))).toEqual(document);
  });

  test.each(documented.map(({ path, method, operation }) => [`${method} ${path}`, path, operation] as const))(
    '%s documents its parameters, body and responses',
    (_, path, documentedOperation: AnyJson) => {
      const known =
        'operationId tags summary deprecated description security parameters requestBody responses'.split(
          ' ',
        );
      expect(Object.keys(documentedOperation).filter((key) => !known.includes(key))).toEqual([]);
      const named = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
      const inPath = documentedOperation.parameters.filter(({ in: where }: AnyJson) => where === 'path');
      expect(inPath.map(({ name }: AnyJson) => name).sort()).toEqual(named.sort());
      const keys = documentedOperation.parameters.map(
        (parameter: AnyJson) => `${parameter.in} ${parameter.name}`,
      );
      expect(new Set(keys).size).toBe(keys.length);
      for (const parameter of documentedOperation.parameters) {
        expect(parameter.schema).toEqual(expect.any(Object));
        if (parameter.in === 'path') expect(parameter.required).toBe(true);
      }
      for (const [status, response] of Object.entries<AnyJson>(documentedOperation.responses)) {
        expect(status).toMatch(/^[2-5]\d\d$/);
        expect(response.description).toMatch(/./);
        for (const type of Object.keys(response.content ?? {})) expect(type).toMatch(/^[\w*]+\/[\w.+*-]+$/);
        for (const header of Object.values<AnyJson>(response.headers ?? {}))
          expect(header).toEqual({ description: expect.stringMatching(/./), schema: { type: 'string' } });
      }
      for (const content of Object.values<AnyJson>(documentedOperation.requestBody?.content ?? {}))
        expect(content.schema).toEqual(expect.any(Object));
    },
  );

  test('documents idempotency, ETag and rate limit headers where supported', () => {
    const getOperation = (id: string) =>
      documented.find(({ operation }) => operation.operationId === id)?.operation;
    const sent = (id: string) =>
      getOperation(id)
        .parameters.filter(({ in: where }: AnyJson) => where === 'header')
        .map(({ name }: AnyJson) => name);
    expect(sent('createDocument')).toEqual(['Idempotency-Key']);
    const getPattern = (id: string) => new RegExp(getOperation(id).parameters.at(-1).schema.pattern);
    const key = getPattern('createDocument');
    expect(['a', '~'.repeat(255)].every((sample) => key.test(sample))).toBe(true);
    expect(['', 'a b', 'ä', 'a'.repeat(256)].some((sample) => key.test(sample))).toBe(false);
    const tags = getPattern('updateNode');
    expect(['*', '"7"', 'W/"7", "8"'].every((sample) => tags.test(sample))).toBe(true);
    expect(['7', '"7', '"7" "8"'].some((sample) => tags.test(sample))).toBe(false);
    expect(sent('publishDocument')).toEqual(['Idempotency-Key', 'If-Match']);
    expect(sent('updateNode')).toEqual(['If-Match']);
    expect(sent('deleteNode')).toEqual(['If-Match']);
    expect(sent('getDocument')).toEqual(['If-None-Match']);
    for (const id of ['listDocuments', 'logIn', 'updateMember']) expect([id, sent(id)]).toEqual([id, []]);
    expect(getOperation('createDocument').responses[201].headers).toHaveProperty('Idempotency-Replayed');
    expect(getOperation('getDocument').responses).toHaveProperty('304');
    const limits = ['RateLimit', 'RateLimit-Policy', 'Retry-After'];
    for (const { operation } of documented)
      expect(Object.keys(operation.responses[429].headers).sort()).toEqual(limits);
    expect(getOperation('createDocument').responses[409].headers).toHaveProperty('Retry-After');
    expect(getOperation('deleteDepartment').responses[409]).not.toHaveProperty('headers');
    expect(getOperation('createDocument').responses[201].headers).toHaveProperty('Location');
    expect(getOperation('createNode').responses[201].headers).not.toHaveProperty('Location');
    expect(getOperation('getDocument').responses[401].headers).toHaveProperty('WWW-Authenticate');
  });

  test.each(
    contracts.flatMap(({ operations }) => operations).map((operation) => [operation.id, operation] as const),
  )('%s documents exactly its possible problems under their status', (id, operation) => {
    const { responses } =
      documented.find((candidate) => candidate.operation.operationId === id)?.operation ?? {};
    const byStatus = Map.groupBy(getProblems(operation), ({ status }) => status);
    expect(Object.keys(responses).filter((status) => /^[45]/.test(status))).toEqual(
      [...byStatus.keys()].sort().map(String),
    );
    for (const [status, kinds] of byStatus) {
      const { description, content } = responses[status];
      expect(content['application/problem+json'].schema).toEqual({ $ref: '#/components/schemas/Problem' });
      expect(responses[status]['x-problem-codes']).toEqual(kinds.map(({ code }) => code));
      expect(description).toBe(kinds.map(({ code, title }) => `- \`${code}\`: ${title}`).join('\n'));
      expect(Object.keys(content).includes('text/html')).toBe(operation.problemPages ?? false);
    }
  });

  test('an operation with restricted access documents its 403', () => {
    const undocumented = contracts
      .flatMap(({ operations }) => operations)
      // members find only their own items: others are 404 or not in the list
      .filter(({ access }) => access.authenticated && !/^member( \(own\).*)?$/.test(access.name))
      .filter((operation) => !getProblems(operation).some(({ status }) => status === 403));
    expect(undocumented.map(({ id }) => id)).toEqual([]);
  });

  test('an operation describes who may call it if not every member may', () => {
    for (const operation of contracts.flatMap(({ operations }) => operations)) {
      const { id, problems, access } = operation;
      const { description } =
        documented.find((candidate) => candidate.operation.operationId === id)?.operation ?? {};
      // the access rule lists it
      expect([id, problems]).toEqual([id, expect.not.arrayContaining([shared.Forbidden])]);
      expect(description).toContain(access.description);
      const narrowerRules = /\b(owner|editor|creator|admin|uploaded)\b[^.]*\bmay\b|\ban admin sees\b/;
      if (narrowerRules.test(description))
        expect([id, description]).toEqual([id, expect.not.stringContaining('Any member')]);
    }
  });

  test('every $ref points to an existing component of its kind', () => {
    const broken: string[] = [];
    walk(document, (node, at) => {
      if (node.$ref === undefined) return;
      const within = /\/responses\/[^/]+(\/headers\/[^/]+)?$/.exec(at);
      const kind = within ? (within[1] ? 'headers' : 'responses') : 'schemas';
      // JSON Schema allows annotations beside a reference
      const siblings = kind === 'schemas' ? ['$ref', 'description', 'default', 'examples'] : ['$ref'];
      const isNamed = new RegExp(`^#/components/${kind}/[A-Za-z0-9._-]+$`).test(String(node.$ref));
      if (!isNamed || !find(String(node.$ref)) || Object.keys(node).some((key) => !siblings.includes(key)))
        broken.push(`${at}: ${node.$ref}`);
    });
    expect(broken).toEqual([]);
  });

  test('every shared response, header and schema is used', () => {
    const used = new Set<unknown>();
    walk(document, ({ $ref }) => used.add($ref));
    const unused = ['responses', 'headers', 'schemas'].flatMap((kind) =>
      Object.keys(document.components[kind])
        .map((name) => `#/components/${kind}/${name}`)
        .filter((pointer) => !used.has(pointer)),
    );
    expect(unused).toEqual([]);
  });

  test('a named schema is defined once, whatever the order of contracts', () => {
    const reversed: AnyJson = openapi([...contracts].reverse(), info);
    expect(reversed.components.schemas).toEqual(document.components.schemas);
    for (const name of Object.keys(document.components.schemas)) expect(name).toMatch(/^[A-Z][A-Za-z0-9]*$/);
    walk(document, ({ $defs, $schema, id, $id }, at) => {
      if (at.endsWith('/properties')) return;
      expect([at, $defs, $schema, $id, id]).toEqual([at, undefined, undefined, undefined, undefined]);
    });
  });

  test('schemas use only types of JSON Schema', () => {
    const types = ['string', 'number', 'integer', 'boolean', 'object', 'array', 'null'];
    const check = (schema: unknown) =>
      walk(schema, ({ type, enum: values, required, properties }, at) => {
        if (at.endsWith('/properties')) return;
        for (const name of type === undefined ? [] : [type].flat()) expect(types).toContain(name);
        if (values !== undefined) expect(Array.isArray(values)).toBe(true);
        if (Array.isArray(required) && properties)
          for (const field of required) expect(Object.keys(properties as object)).toContain(field);
      });
    check(document.components.schemas);
    for (const { operation } of documented) {
      for (const { schema } of operation.parameters) check(schema);
      for (const { content } of [operation.requestBody ?? {}, ...Object.values<AnyJson>(operation.responses)])
        for (const { schema } of Object.values<AnyJson>(content ?? {})) check(schema);
    }
  });

  test('the schemas of request bodies and responses have names', () => {
    const isNamed = (schema: AnyJson): boolean =>
      '$ref' in schema ||
      (schema.type === 'array' && isNamed(schema.items)) ||
      (schema.anyOf?.every((one: AnyJson) => one.type === 'null' || isNamed(one)) ?? false);
    const unnamed = documented.flatMap(({ operation: { operationId, requestBody, responses } }) =>
      [requestBody ?? {}, ...Object.values<AnyJson>(responses)]
        .flatMap(({ content }) => Object.values<AnyJson>(content ?? {}))
        .filter(({ schema }) => schema.type !== 'string' && !isNamed(schema))
        .map(() => operationId),
    );
    // the document itself
    expect(unnamed).toEqual(['getOpenApi']);
  });

  test('times and ids have no pattern beside their format', () => {
    const found: string[] = [];
    walk(document, ({ format, pattern }, at) => {
      if (pattern !== undefined && (format === 'date-time' || format === 'uuid')) found.push(at);
    });
    expect(found).toEqual([]);
  });

  test('subscribable events are OpenAPI webhooks, other events are omitted', () => {
    const published = contracts.flatMap((contract) => contract.publishes);
    const subscribable = published.filter((event) => event.subscribable).map(({ name }) => name);
    expect(Object.keys(document.webhooks).sort()).toEqual(subscribable.sort());
  });
});

describe('the OpenAPI document of one operation', () => {
  const base = {
    method: 'get',
    path: '/x',
    summary: 's',
    access: anyone,
    status: 200,
    returns: z.string(),
    problems: [],
  } as const;
  const toDocument = (
    declared: AnyJson,
    operations = [declared.id],
    examples: Examples['operations'] = {},
  ): AnyJson => {
    const groups = [{ name: 'g', description: 's', operations }];
    return openapi(
      [
        contract({
          name: 'c',
          title: 'C',
          description: 's',
          operations: [declared],
          publishes: [],
          consumes: [],
          owns: [],
          views: [],
          reads: [],
        }),
      ],
      { ...info, groups, examples: { operations: examples, webhooks: {} } },
    );
  };
  const toDocumented = (declared: AnyJson): AnyJson =>
    toDocument(declared).paths['/api/v1/x'][declared.method];

  test('its group is its tag; no other group may list it, or fail to', () => {
    expect(toDocumented(operation({ ...base, id: 'a' })).tags).toEqual(['g']);
    expect(() => toDocument(operation({ ...base, id: 'a' }), [])).toThrow('a is in no group');
    expect(() => toDocument(operation({ ...base, id: 'a' }), ['a', 'b'])).toThrow('b is not an operation');
    expect(() => toDocument(operation({ ...base, id: 'a' }), ['a', 'a'])).toThrow('two groups');
  });

  test('its JSON body is a component with its name', () => {
    const body = z.strictObject({ name: z.string() });
    const declared = operation({ ...base, id: 'createThing', method: 'post', body });
    const { content } = toDocumented(declared).requestBody;
    expect(content['application/json'].schema).toEqual({ $ref: '#/components/schemas/CreateThing' });
    expect(toDocument(declared).components.schemas.CreateThing.properties).toHaveProperty('name');
  });

  test('a deprecated operation says since when, until when and what to use', () => {
    const deprecated = { since: '2026-11-24', sunset: '2027-06-01', instead: 'Use `b`.' };
    const documentedOperation = toDocumented(operation({ ...base, id: 'a', description: 'D.', deprecated }));
    expect(documentedOperation.deprecated).toBe(true);
    const notice = '**Deprecated** since 2026-11-24. It may be removed on 2027-06-01. Use `b`.';
    expect(documentedOperation.description).toMatch(new RegExp(`^${notice.replaceAll('*', '\\*')}\n\nD\\.`));
    const headers = Object.keys(documentedOperation.responses[200].headers);
    expect(headers).toEqual(expect.arrayContaining(['Deprecation', 'Sunset']));
    const current = toDocumented(operation({ ...base, id: 'a' }));
    expect(current).not.toHaveProperty('deprecated');
    expect(Object.keys(current.responses[200].headers)).toEqual(['X-Request-Id']);
  });

  test('a deprecated field is marked in its schema', () => {
    const returns = z.object({ old: z.string().meta({ deprecated: true }), current: z.string() });
    const { schema } = toDocumented(operation({ ...base, id: 'a', returns })).responses[200].content[
      'application/json'
    ];
    expect(schema.properties.old.deprecated).toBe(true);
    expect(schema.properties.current).not.toHaveProperty('deprecated');
  });

  test('a public operation requires no credentials', () => {
    expect(toDocumented(operation({ ...base, id: 'a' })).security).toEqual([]);
    expect(getProblems(operation({ ...base, id: 'a' }))).not.toContain(shared.Unauthenticated);
  });

  test('an operation that takes a password has optional Basic authentication', () => {
    const access = { ...anyone, takesPassword: true };
    expect(toDocumented(operation({ ...base, id: 'a', access })).security).toEqual([{}, { password: [] }]);
  });

  test('a form has its fields, and 303 a Location and no content', () => {
    const body = form(z.strictObject({ name: z.string() }));
    const declared = operation({ ...base, id: 'send', method: 'post', body, status: 303, returns: z.void() });
    const { requestBody, responses } = toDocumented(declared);
    expect(requestBody.content).toEqual({
      'application/x-www-form-urlencoded': { schema: { $ref: '#/components/schemas/Send' } },
    });
    expect(responses[303].headers).toHaveProperty('Location');
    expect(responses[303]).not.toHaveProperty('content');
    expect(getProblems(declared)).toContain(shared.UnsupportedMediaType);
    expect(getProblems(declared)).not.toContain(shared.MalformedJson);
  });

  test('an authenticated POST documents Idempotency-Key problems', () => {
    const access = { ...anyone, authenticated: true };
    const kinds = getProblems(operation({ ...base, id: 'a', method: 'post', access }));
    for (const kind of [shared.InvalidRequest, shared.IdempotencyKeyReused, shared.IdempotencyKeyInFlight])
      expect(kinds).toContain(kind);
  });

  test('problems of an access rule are problems of its operations', () => {
    const access = { ...anyone, authenticated: true, problems: [shared.Forbidden] };
    expect(getProblems(operation({ ...base, id: 'a', access }))).toContain(shared.Forbidden);
  });

  test('its example has parameters, a body and a response of each type', () => {
    const declared = operation({
      ...base,
      id: 'a',
      method: 'post',
      params: z.object({ thing_id: z.string() }),
      query: z.object({ limit: z.number().optional(), cursor: z.string().optional() }),
      body: z.strictObject({ name: z.string() }),
      returns: media({ 'text/csv': { description: 'rows' }, 'text/html': { description: 'page' } }),
    });
    const rows = { type: 'text/csv', body: '1;2' };
    const page = { type: 'text/html', body: '<p>' };
    const request = { params: { thing_id: '7' }, query: { limit: 5 }, body: { name: 'n' } };
    const examples = { a: [{ ...request, response: rows }, { response: page }] };
    const { parameters, requestBody, responses } = toDocument(declared, ['a'], examples).paths['/api/v1/x']
      .post;
    expect(parameters.slice(0, 3).map(({ example }: AnyJson) => example)).toEqual(['7', 5, undefined]);
    expect(requestBody.content['application/json'].example).toEqual({ name: 'n' });
    expect(responses[200].content['text/csv'].example).toBe('1;2');
    expect(responses[200].content['text/html'].example).toBe('<p>');
  });

  test('a multipart body has its fields and its file', () => {
    const body = multipart({ fields: z.strictObject({ name: z.string() }), file: 'file', maxFileBytes: 1 });
    const declared = operation({ ...base, id: 'upload', method: 'post', body });
    const { content } = toDocumented(declared).requestBody;
    expect(content['multipart/form-data'].schema).toEqual({ $ref: '#/components/schemas/Upload' });
    const examples = { upload: [{ body: { name: 'n' } }] };
    const { Upload } = toDocument(declared, ['upload'], examples).components.schemas;
    expect(Upload.properties.name).toEqual({ type: 'string', examples: ['n'] });
    expect(Upload).toMatchObject({
      required: ['name', 'file'],
      properties: { name: { type: 'string' }, file: { type: 'string', format: 'binary' } },
    });
  });

  test('a response lists its media types, an empty one has no content', () => {
    const returns = media({ 'text/csv': { description: 'rows' }, 'image/png': { description: 'bytes' } });
    const { content } = toDocumented(operation({ ...base, id: 'a', returns })).responses[200];
    expect(content).toEqual({
      'text/csv': { schema: { type: 'string', description: 'rows' } },
      'image/png': { schema: { type: 'string', format: 'binary', description: 'bytes' } },
    });
    expect(
      toDocumented(operation({ ...base, id: 'a', status: 204, returns: z.void() })).responses[204],
    ).not.toHaveProperty('content');
  });
});
