/** Reads a query: every parameter is known, and sent once unless it takes a list. */
import { z } from 'zod';
import type { AnyOperation } from '#libs/contract';
import { checkShape, type Fault } from './error-messages.ts';

/** The parsed query; unknown and repeated parameters are mistakes. Below the application's root unknown ones are ignored. */
export function readQuery(
  operation: AnyOperation,
  sent: Readonly<Record<string, unknown>>,
  faults: Fault[],
): unknown {
  const fields: z.ZodRawShape = operation.query instanceof z.ZodObject ? operation.query.shape : {};
  const repeated = new Set<string>();
  for (const [name, value] of Object.entries(sent)) {
    const path = `query/${name}`;
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (field === undefined) {
      if (operation.at !== 'root') faults.push({ path, message: describeUnknown(Object.keys(fields)) });
    } else if (Array.isArray(value) && !takesList(field)) {
      repeated.add(path);
      faults.push({ path, message: 'Send this parameter only once' });
    }
  }
  const others: Fault[] = [];
  const query = checkShape(operation.query, sent, 'query', others);
  faults.push(...others.filter(({ path }) => !repeated.has(path)));
  return query;
}

function describeUnknown(known: readonly string[]): string {
  const taken = known.length > 0 ? known.join(', ') : 'no query parameters';
  return `Unknown parameter: this operation takes ${taken}`;
}

/** Whether a parameter may be sent several times. */
function takesList(field: z.core.$ZodType): boolean {
  const { type, anyOf = [] } = z.toJSONSchema(field, { io: 'input', unrepresentable: 'any' });
  return type === 'array' || anyOf.some((one) => one.type === 'array');
}
