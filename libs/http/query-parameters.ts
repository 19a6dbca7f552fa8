/** Parses the query: every parameter must be known, and may be repeated only if it takes a list. */
import type { Request } from 'express';
import { z } from 'zod';
import {
  type AnyOperation,
  addError,
  checkShape,
  createInputErrors,
  type InputErrors,
  InvalidRequest,
} from '#libs/contract';

/**
 * Returns the parsed query. Adds errors for unknown and repeated parameters. Operations at the application
 * root ignore unknown parameters, e.g. tracking parameters in a link. Throws `InvalidRequest` for bytes that are not
 * UTF-8.
 */
export function readQuery(
  operation: AnyOperation,
  { url, query: sent }: Pick<Request, 'url' | 'query'>,
  errors: InputErrors,
): unknown {
  if (operation.at !== 'root' && !isQueryDecodable(url)) throw InvalidRequest('The query is malformed.');
  const fields: z.ZodRawShape = operation.query instanceof z.ZodObject ? operation.query.shape : {};
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

/** Whether all percent-encoded bytes of the query are UTF-8. Its parser would replace others by U+FFFD. */
function isQueryDecodable(url: string): boolean {
  const start = url.indexOf('?');
  if (start === -1) return true;
  try {
    decodeURIComponent(url.slice(start));
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
