/** The reference made from the real contracts is a valid OpenAPI 3.1 document and tells the whole story. */
import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { contracts } from '../../services/contracts.ts';
import { anyone } from './access.ts';
import { contract } from './contract.ts';
import { media, multipart } from './media.ts';
import { openapi } from './openapi.ts';
import { operation } from './operation.ts';
import * as shared from './problems.ts';
import { getProblems } from './protocol.ts';

const info = { title: 't', version: '1', description: 'd', apiPrefix: '/api/v1' };
// biome-ignore lint/suspicious/noExplicitAny: a document is walked freely here
type Free = any;
const document: Free = openapi(contracts, info);
const all: { path: string; method: string; of: Free }[] = Object.entries(document.paths as Free).flatMap(
  ([path, item]) => Object.entries(item as Free).map(([method, of]) => ({ path, method, of })),
);

const walk = (value: unknown, see: (node: Record<string, unknown>, at: string) => void, at = '#'): void => {
  if (typeof value !== 'object' || value === null) return;
  if (!Array.isArray(value)) see(value as Record<string, unknown>, at);
  for (const [key, child] of Object.entries(value)) walk(child, see, `${at}/${key}`);
};

describe('the document of the real contracts', () => {
  test('has every operation once, at its path, with an id of its own', () => {
    const declared = contracts.flatMap(({ operations }) => operations);
    expect(all.map(({ of }) => of.operationId).sort()).toEqual(declared.map(({ id }) => id).sort());
    expect(new Set(declared.map(({ id }) => id)).size).toBe(declared.length);
    for (const { path, method } of all) {
      expect(path).toMatch(/^\/[A-Za-z0-9_./{}-]*$/);
      expect(['get', 'post', 'put', 'patch', 'delete']).toContain(method);
    }
  });

  test('has the outer shape that OpenAPI 3.1 asks for', () => {
    expect(document.openapi).toMatch(/^3\.1\.\d$/);
    expect(document.info).toEqual({ title: 't', version: '1', description: 'd' });
    const known = 'openapi info servers tags security paths webhooks components'.split(' ');
    expect(Object.keys(document).filter((key) => !known.includes(key))).toEqual([]);
    const tags = document.tags.map(({ name }: { name: string }) => name);
    for (const { of } of all) for (const tag of of.tags) expect(tags).toContain(tag);
    // plain JSON, nothing lost in writing it down
    expect(JSON.parse(JSON.stringify(document))).toEqual(document);
  });

  test.each(all.map(({ path, method, of }) => [`${method} ${path}`, path, of] as const))(
    '%s names its parameters, its body and its answers',
    (_, path, free: Free) => {
      const known = 'operationId tags summary description security parameters requestBody responses'.split(
        ' ',
      );
      expect(Object.keys(free).filter((key) => !known.includes(key))).toEqual([]);
      const named = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
      const inPath = free.parameters.filter(({ in: where }: Free) => where === 'path');
      expect(inPath.map(({ name }: Free) => name).sort()).toEqual(named.sort());
      const keys = free.parameters.map((one: Free) => `${one.in} ${one.name}`);
      expect(new Set(keys).size).toBe(keys.length);
      for (const one of free.parameters) {
        expect(one.schema).toEqual(expect.any(Object));
        if (one.in === 'path') expect(one.required).toBe(true);
      }
      for (const [status, response] of Object.entries<Free>(free.responses)) {
        expect(status).toMatch(/^[2-5]\d\d$/);
        expect(response.description).toMatch(/./);
        for (const type of Object.keys(response.content ?? {})) expect(type).toMatch(/^[\w*]+\/[\w.+*-]+$/);
      }
      for (const content of Object.values<Free>(free.requestBody?.content ?? {}))
        expect(content.schema).toEqual(expect.any(Object));
    },
  );

  test('names the headers that make repeating and changing safe, where they work', () => {
    const of = (id: string) => all.find((found) => found.of.operationId === id)?.of;
    const sent = (id: string) =>
      of(id)
        .parameters.filter(({ in: where }: Free) => where === 'header')
        .map(({ name }: Free) => name);
    expect(sent('createDocument')).toEqual(['Idempotency-Key']);
    expect(sent('publishDocument')).toEqual(['Idempotency-Key', 'If-Match']);
    expect(sent('updateNode')).toEqual(['If-Match']);
    expect(sent('deleteNode')).toEqual(['If-Match']);
    expect(sent('getDocument')).toEqual(['If-None-Match']);
    for (const id of ['listDocuments', 'logIn', 'updateMember']) expect([id, sent(id)]).toEqual([id, []]);
    expect(of('createDocument').responses[201].headers).toHaveProperty('Idempotency-Replayed');
    expect(of('getDocument').responses).toHaveProperty('304');
    const limits = ['RateLimit', 'RateLimit-Policy', 'Retry-After'];
    for (const { of: one } of all) expect(Object.keys(one.responses[429].headers).sort()).toEqual(limits);
    expect(of('createDocument').responses[409].headers).toHaveProperty('Retry-After');
    expect(of('deleteDepartment').responses[409]).not.toHaveProperty('headers');
    expect(of('createDocument').responses[201].headers).toHaveProperty('Location');
    expect(of('createNode').responses[201].headers).not.toHaveProperty('Location');
    expect(of('getDocument').responses[401].headers).toHaveProperty('WWW-Authenticate');
  });

  test.each(contracts.flatMap(({ operations }) => operations).map((one) => [one.id, one] as const))(
    '%s shows every problem that it can answer with, under its status',
    (id, one) => {
      const of = all.find((found) => found.of.operationId === id)?.of;
      for (const kind of getProblems(one)) {
        const content = of.responses[kind.status].content['application/problem+json'];
        expect(content.schema.allOf[1].properties.code.enum).toContain(kind.code);
        expect(of.responses[kind.status].description).toContain(kind.title);
      }
    },
  );

  test('an operation that keeps some principals out says with which problem', () => {
    const silent = contracts
      .flatMap(({ operations }) => operations)
      .filter(({ access }) => access.authenticated && access.name !== 'member')
      .filter((one) => !getProblems(one).some(({ status }) => status === 403));
    expect(silent.map(({ id }) => id)).toEqual([]);
  });

  test('an operation that only some members may call says which, and no more', () => {
    for (const operation of contracts.flatMap(({ operations }) => operations)) {
      const { id, access, permission, problems } = operation;
      const { description } = all.find(({ of }) => of.operationId === id)?.of ?? {};
      const isNarrower = problems.includes(shared.Forbidden) && access.description.startsWith('Any member');
      if (isNarrower) expect([id, permission]).toEqual([id, expect.any(String)]);
      const narrowerRules = /\b(owner|editor|creator|admin|uploaded)\b[^.]*\bmay\b|\ban admin sees\b/;
      if (narrowerRules.test(description))
        expect([id, description]).toEqual([id, expect.not.stringContaining('Any member')]);
    }
  });

  test('every reference leads somewhere', () => {
    const lost: string[] = [];
    walk(document, ({ $ref }, at) => {
      if ($ref === undefined) return;
      const name = /^#\/components\/schemas\/([A-Za-z0-9._-]+)$/.exec(String($ref))?.[1];
      if (!name || !document.components.schemas[name]) lost.push(`${at}: ${$ref}`);
    });
    expect(lost).toEqual([]);
  });

  test('a shape with a name stands in it once, and means the same wherever it is used', () => {
    const backwards: Free = openapi([...contracts].reverse(), info);
    expect(backwards.components.schemas).toEqual(document.components.schemas);
    for (const name of Object.keys(document.components.schemas)) expect(name).toMatch(/^[A-Z][A-Za-z0-9]*$/);
    walk(document, ({ $defs, $schema, id, $id }, at) => {
      if (at.endsWith('/properties')) return;
      expect([at, $defs, $schema, $id, id]).toEqual([at, undefined, undefined, undefined, undefined]);
    });
  });

  test('schemas use the types of JSON Schema', () => {
    const types = ['string', 'number', 'integer', 'boolean', 'object', 'array', 'null'];
    const check = (schema: unknown) =>
      walk(schema, ({ type, enum: values, required, properties }, at) => {
        if (at.endsWith('/properties')) return;
        for (const one of type === undefined ? [] : [type].flat()) expect(types).toContain(one);
        if (values !== undefined) expect(Array.isArray(values)).toBe(true);
        if (Array.isArray(required) && properties)
          for (const field of required) expect(Object.keys(properties as object)).toContain(field);
      });
    check(document.components.schemas);
    for (const { of } of all) {
      for (const { schema } of of.parameters) check(schema);
      for (const { content } of [of.requestBody ?? {}, ...Object.values<Free>(of.responses)])
        for (const { schema } of Object.values<Free>(content ?? {})) check(schema);
    }
  });

  test('events that may be subscribed are its webhooks, others are not in it', () => {
    const says = contracts.flatMap((one) => one.publishes);
    const subscribable = says.filter((event) => event.subscribable).map(({ name }) => name);
    expect(Object.keys(document.webhooks).sort()).toEqual(subscribable.sort());
  });
});

describe('what follows from an operation', () => {
  const base = {
    method: 'get',
    path: '/x',
    summary: 's',
    access: anyone,
    status: 200,
    returns: z.string(),
    problems: [],
  } as const;
  const of = (one: Free): Free => {
    const made = openapi(
      [
        contract({
          name: 'c',
          title: 'C',
          description: 's',
          operations: [one],
          publishes: [],
          consumes: [],
          owns: [],
          views: [],
          reads: [],
        }),
      ],
      info,
    );
    return (made.paths as Free)['/api/v1/x'][one.method];
  };

  test('a public operation asks for no credentials', () => {
    expect(of(operation({ ...base, id: 'a' })).security).toEqual([]);
    expect(getProblems(operation({ ...base, id: 'a' }))).not.toContain(shared.Unauthenticated);
  });

  test('a POST of someone known may be refused for its Idempotency-Key, also without a body', () => {
    const access = { ...anyone, authenticated: true };
    const kinds = getProblems(operation({ ...base, id: 'a', method: 'post', access }));
    for (const kind of [shared.InvalidRequest, shared.IdempotencyKeyReused, shared.IdempotencyKeyInFlight])
      expect(kinds).toContain(kind);
  });

  test('what an access refuses with is a problem of all its operations', () => {
    const access = { ...anyone, authenticated: true, problems: [shared.Forbidden] };
    expect(getProblems(operation({ ...base, id: 'a', access }))).toContain(shared.Forbidden);
  });

  test('a multipart body has its fields and its file', () => {
    const body = multipart({ fields: z.strictObject({ name: z.string() }), file: 'file', maxFileBytes: 1 });
    const { content } = of(operation({ ...base, id: 'a', method: 'post', body })).requestBody;
    expect(content['multipart/form-data'].schema).toMatchObject({
      required: ['name', 'file'],
      properties: { name: { type: 'string' } },
    });
  });

  test('an answer in other media types names them, an empty one has no content', () => {
    const returns = media({ 'text/csv': { description: 'rows' } });
    expect(Object.keys(of(operation({ ...base, id: 'a', returns })).responses[200].content)).toEqual([
      'text/csv',
    ]);
    expect(
      of(operation({ ...base, id: 'a', status: 204, returns: z.void() })).responses[204],
    ).not.toHaveProperty('content');
  });
});
