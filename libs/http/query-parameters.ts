/** Reads a query: every parameter is known, and sent once unless it takes a list. */
import { z } from 'zod';
import type { AnyOperation } from '#libs/contract';
import { checkShape, type InputError } from './error-messages.ts';

/**
 * The parsed query; unknown and repeated parameters are mistakes. Below the application's root unknown ones
 * are ignored.
 */
export function readQuery(
  operation: AnyOperation,
  sent: Readonly<Record<string, unknown>>,
  errors: InputError[],
): unknown {
  const fields: z.ZodRawShape = operation.query instanceof z.ZodObject ? operation.query.shape : {};
  const repeated = new Set<string>();
  for (const [name, value] of Object.entries(sent)) {
    const path = `query/${name}`;
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (field === undefined) {
      if (operation.at !== 'root') errors.push({ path, message: describeUnknown(Object.keys(fields)) });
    } else if (Array.isArray(value) && !acceptsList(field)) {
      repeated.add(path);
      errors.push({ path, message: 'Send this parameter only once' });
    }
  }
  const shapeErrors: InputError[] = [];
  const query = checkShape(operation.query, sent, 'query', shapeErrors);
  errors.push(...shapeErrors.filter(({ path }) => !repeated.has(path)));
  return query;
}

function describeUnknown(known: readonly string[]): string {
  const accepted = known.length > 0 ? known.join(', ') : 'no query parameters';
  return `Unknown parameter: this operation takes ${accepted}`;
}

/** Whether a parameter may be sent several times. */
function acceptsList(field: z.core.$ZodType): boolean {
  const { type, anyOf = [] } = z.toJSONSchema(field, { io: 'input', unrepresentable: 'any' });
  return type === 'array' || anyOf.some((one) => one.type === 'array');
}
