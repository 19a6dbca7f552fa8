/** Schemas that all resources share: identifiers, timestamps, texts, flags, sort positions, PATCH bodies. */
import { v7 } from 'uuid';
import { z } from 'zod';

/** An opaque identifier: a UUID string. New ones are version 7, ordered by time (RFC 9562). */
export const id = z
  .uuid()
  .meta({ description: 'Opaque identifier (UUID)', examples: ['0199c2a4-6f80-7c3a-9d51-2b7e4f8a1c60'] });

/** Creates an identifier: UUID version 7, 36 characters, ordered by creation time. */
export function newId(): string {
  return v7();
}

/** A timestamp in responses: ISO 8601 in UTC with milliseconds, e.g. `2026-11-21T09:30:00.000Z`. */
export const timestamp = z.iso
  .datetime({ precision: 3 })
  .meta({ description: 'ISO 8601, UTC, milliseconds', examples: ['2026-11-21T09:30:00.000Z'] });

/** Any text of at most `max` characters: Unicode code points, as `maxLength` of JSON Schema counts them. */
export function text(max: number) {
  return z.string().check(atMost(max)).meta({ maxLength: max });
}

/** A text of at most `max` characters that is not blank. White space around it is removed. */
export function requiredText(max: number, message?: string) {
  return z.string().trim().min(1, message).check(atMost(max)).meta({ maxLength: max, pattern: '\\S' });
}

function atMost(maximum: number): z.core.CheckFn<string> {
  return ({ value, issues }) => {
    if (value.length <= maximum) return;
    const isLonger = value.length > 2 * maximum || [...value].length > maximum;
    if (isLonger) issues.push({ code: 'too_big', origin: 'string', maximum, inclusive: true, input: value });
  };
}

/** A boolean as a query parameter: `true` or `false`. The reference describes it as a boolean. */
export const queryFlag = z
  .enum(['true', 'false'])
  .transform((value) => value === 'true')
  .meta({ type: 'boolean', enum: undefined });

/** An integer as a query parameter: decimal digits after an optional minus. `Number` would also accept `0x10`. */
export function queryInteger(minimum: number, maximum: number) {
  const parse = (value: unknown) => (/^-?\d+$/.test(String(value)) ? Number(value) : value);
  const integer = z.int({
    error: ({ code }) => (code === 'invalid_type' ? 'Must be a whole number' : undefined),
  });
  return z.preprocess(parse, integer.min(minimum).max(maximum));
}

/** A query parameter that may be repeated. One value is an array with it. */
export function queryList<Item extends z.ZodType>(item: Item, maximum: number) {
  return z.preprocess((value) => (typeof value === 'string' ? [value] : value), z.array(item).max(maximum));
}

/** A time in a request: ISO 8601 with an offset or `Z`. */
export const inputTime = z.iso.datetime({ offset: true }).meta({ examples: ['2026-11-21T09:30:00Z'] });

/** A sort position among siblings: any finite number. Lower comes first. */
export const order = z.number().meta({ description: 'Sort position among siblings; lower comes first' });

/** Creates the schema of a PATCH body: all fields are optional, at least one is required. */
export function patchBody<Fields extends z.ZodRawShape>(fields: Fields) {
  return z
    .strictObject(fields)
    .partial()
    .refine((body) => Object.keys(body).length > 0, 'Send at least one field to change')
    .meta({ minProperties: 1 });
}
