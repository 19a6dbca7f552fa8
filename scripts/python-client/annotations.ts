/** Writes the types of parameters, bodies and results as Python annotations. */
import type { ApiSchema } from '../api-document.ts';

/**
 * The annotation of a schema. Named schemas are classes of the module `models`. Throws if the schema has a form that no
 * operation used when this was written.
 */
export function toAnnotation(schema: ApiSchema): string {
  const { $ref, type, format, items, anyOf } = schema;
  if ($ref) return `models.${$ref.split('/').at(-1)}`;
  if (anyOf) return anyOf.map(toAnnotation).join(' | ');
  if (schema.enum) return `Literal[${schema.enum.map((value) => JSON.stringify(value)).join(', ')}]`;
  if (type === 'array' && items) return `list[${toAnnotation(items)}]`;
  if (type === 'string' && format === 'uuid') return 'str | UUID';
  if (type === 'string' && format === 'date-time') return 'str | datetime';
  const simple = simpleTypes[type ?? ''];
  if (!simple) throw new Error(`The Python client has no type for ${JSON.stringify(schema)}.`);
  return simple;
}

/** The annotation of a parameter. A list may be any sequence. */
export function toParameterAnnotation(schema: ApiSchema): string {
  return toAnnotation(schema).replace(/^list\[/, 'Sequence[');
}

const simpleTypes: Record<string, string> = {
  string: 'str',
  boolean: 'bool',
  integer: 'int',
  number: 'float',
  object: 'dict[str, Any]',
  null: 'None',
};

/** The Python name of an operation: `createShareToken` becomes `create_share_token`. */
export function toSnakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
