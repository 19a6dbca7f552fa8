/** Every position of a request in which a caller can name a resource, read from the contracts. */
import { z } from 'zod';
import type { AnyOperation } from '#libs/contract';
import { contracts } from '../../../services/contracts.ts';

/** A position of an id: a path parameter, a query parameter or a field of the body. */
export interface Position {
  operation: AnyOperation;
  place: 'path' | 'query' | 'body';
  /** Names and array indexes, e.g. `['nodes', '0', 'node_id']`. */
  path: readonly string[];
}

type Schema = Record<string, unknown>;

/** All operations of the API. */
export const operations: readonly AnyOperation[] = contracts.flatMap((contract) => contract.operations);

/** All positions of ids in the requests of authenticated operations. */
export const positions: readonly Position[] = operations
  .filter(({ access }) => access.authenticated)
  .flatMap((operation): Position[] => {
    const { params, query, body } = operation;
    const places = { path: params, query, body: body && 'file' in body ? body.fields : body };
    return Object.entries(places).flatMap(([place, shape]) =>
      findIds(shape && z.toJSONSchema(shape, { io: 'input', unrepresentable: 'any' })).map((path) => {
        // the keys of the literal object above
        return { operation, place: place as Position['place'], path };
      }),
    );
  });

/** The paths of the fields with ids. A field counts if its schema is a UUID or if its name says that it is an id. */
export function findIds(schema: unknown, path: readonly string[] = []): string[][] {
  if (!isRecord(schema)) return [];
  // an `external_id` is a key of the caller, within one request for acknowledgement
  const isNamedId = /(?<!external)_id$/.test(path.at(-1) ?? '');
  if (schema.format === 'uuid' || (isNamedId && schema.type === 'string')) return [[...path]];
  // a recursive schema refers to itself; its first level is found without the reference
  const alternatives = [schema.anyOf, schema.oneOf, schema.allOf].flat().filter(isRecord);
  const properties = isRecord(schema.properties) ? Object.entries(schema.properties) : [];
  const found = [
    ...alternatives.flatMap((one) => findIds(one, path)),
    ...properties.flatMap(([name, one]) => findIds(one, [...path, name])),
    ...findIds(schema.items, [...path, '0']),
  ];
  return [...new Map(found.map((one) => [one.join('/'), one])).values()];
}

function isRecord(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
