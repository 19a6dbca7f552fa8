/** Parses the query: every parameter must be known, and may be repeated only if it takes a list. */
import { z } from 'zod';
import { type AnyOperation, addError, checkShape, createInputErrors, type InputErrors } from '#libs/contract';

/**
 * Returns the parsed query. Adds errors for unknown and repeated parameters. Operations at the application
 * root ignore unknown parameters, e.g. tracking parameters in a link.
 */
export function readQuery(
  operation: AnyOperation,
  sent: Readonly<Record<string, unknown>>,
  errors: InputErrors,
): unknown {
  const fields = getFields(operation);
  const repeated = new Set<string>();
  for (const [name, value] of Object.entries(sent)) {
    const path = `query/${name}`;
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (field === undefined) {
      if (operation.at !== 'root') addError(errors, { path, message: describeUnknown(Object.keys(fields)) });
    } else if (Array.isArray(value) && !acceptsList(field)) {
      repeated.add(path);
      addError(errors, { path, message: 'Send this parameter only once' });
    }
  }
  const shapeErrors = createInputErrors();
  const query = checkShape(operation.query, sent, 'query', shapeErrors);
  for (const error of shapeErrors.listed) if (!repeated.has(error.path)) addError(errors, error);
  return query;
}

function getFields({ query }: AnyOperation): z.ZodRawShape {
  return query instanceof z.ZodObject ? query.shape : {};
}

/** Adds an error for each parameter whose percent-encoding is not UTF-8. The parser would replace the characters. */
export function checkQueryEncoding(operation: AnyOperation, url: string, errors: InputErrors): void {
  for (const parameter of url.split('?').slice(1).join('?').split('&')) {
    const [name = ''] = parameter.split('=');
    if (isDecodable(parameter) || (operation.at === 'root' && !Object.hasOwn(getFields(operation), name)))
      continue;
    addError(errors, { path: `query/${name}`, message: 'Must be percent-encoded UTF-8' });
  }
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

function describeUnknown(known: readonly string[]): string {
  const accepted = known.length > 0 ? known.join(', ') : 'no query parameters';
  return `Unknown parameter: this operation takes ${accepted}`;
}

/** Whether a parameter accepts a list, so that it may be repeated. */
function acceptsList(field: z.core.$ZodType): boolean {
  const { type, anyOf = [] } = z.toJSONSchema(field, { io: 'input', unrepresentable: 'any' });
  return type === 'array' || anyOf.some((alternative) => alternative.type === 'array');
}
