/** Converts zod shapes to JSON Schema. Named shapes become components of the OpenAPI document. */
import { z } from 'zod';

/** A JSON Schema, or another part of an OpenAPI document. */
export type Schema = Record<string, unknown>;

/** The named schemas of a document. */
export interface NamedSchemas {
  /** The schemas by name, for `components/schemas`. */
  readonly components: Record<string, Schema>;
  /** Converts a shape. Shapes with an `id` are added to the components and referenced with `$ref`. */
  convert(shape: z.ZodType, io: 'input' | 'output'): Schema;
  /** Adds a schema under `name`, unless it is a reference already. Returns the reference. */
  add(name: string, schema: Schema): Schema;
}

/** Creates a collection of named schemas that contains `initial`. */
export function namedSchemas(initial: Readonly<Record<string, Schema>>): NamedSchemas {
  const components: Record<string, Schema> = { ...initial };
  return {
    components,
    convert(shape, io) {
      const whole: Schema = z.toJSONSchema(shape, { io, unrepresentable: 'any', override: dropPattern });
      const text = JSON.stringify(whole).replaceAll('"#/$defs/', '"#/components/schemas/');
      const { $schema: _, $defs, ...schema } = JSON.parse(text);
      for (const [name, definition] of Object.entries(toRecord($defs))) components[name] = definition;
      return schema;
    },
    add(name, schema) {
      if ('$ref' in schema) return schema;
      components[name] = schema;
      return { $ref: `#/components/schemas/${name}` };
    },
  };
}

/** Returns the entries of an object; none if the value is not an object. */
export function toRecord(value: unknown): Record<string, Schema> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

/**
 * Removes patterns that say the same as the format. They are so long that tools which make samples from patterns show
 * times and ids that nobody would send.
 */
function dropPattern({ jsonSchema }: { jsonSchema: z.core.JSONSchema.BaseSchema }): void {
  if (jsonSchema.format === 'date-time' || jsonSchema.format === 'uuid') delete jsonSchema.pattern;
}
