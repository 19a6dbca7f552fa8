/** Redacts log fields: decides by type what of a value may be logged, at any depth. */
import { KeyObject } from 'node:crypto';
import { Secret } from '#libs/contract';

/** How many levels of nesting are logged. Deeper values are logged as `[…]`. */
const maxDepth = 6;
/** How many items of a list are logged. */
const maxItems = 50;

/** Redacts the fields of a log line. Returns the same object if nothing needs redaction. */
export function redactFields(fields: Record<string, unknown>): Record<string, unknown> {
  let changed: Record<string, unknown> | undefined;
  for (const name of Object.keys(fields)) {
    const value = fields[name];
    const isErr = name === 'err' && value !== undefined;
    if (!isErr && !needsRedaction(value)) continue;
    changed ??= { ...fields };
    changed[name] = isErr ? redactError(value) : redactValue(value, 0);
  }
  return changed ?? fields;
}

function needsRedaction(value: unknown): boolean {
  return value !== null && ['object', 'function', 'symbol', 'bigint'].includes(typeof value);
}

/** Returns the loggable form of a value. */
function redactValue(value: unknown, depth: number): unknown {
  if (typeof value === 'function' || typeof value === 'symbol') return undefined;
  if (typeof value === 'bigint') return String(value);
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Secret || value instanceof KeyObject) return '[secret]';
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return `[${value.byteLength} bytes]`;
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString();
  if (isError(value)) return redactError(value, depth);
  if (depth >= maxDepth) return '[…]';
  if (Array.isArray(value)) return value.slice(0, maxItems).map((item) => redactValue(item, depth + 1));
  if (value instanceof Set) return [...value].slice(0, maxItems).map((item) => redactValue(item, depth + 1));
  if (value instanceof Map) return '[a map]';
  // an instance of a class, e.g. a model, a connection or a request, may contain secrets
  if (!isPlain(value)) return `[${value.constructor?.name ?? 'an object'}]`;
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => [name, redactValue(field, depth + 1)]),
  );
}

/** How many nested causes of an error are logged. */
const maxCauses = 5;

/**
 * Returns the loggable form of an error: type, message, code, stack and causes. Other fields are dropped,
 * because libraries attach secret data to errors, e.g. the row that MongoDB rejected.
 */
function redactError(error: unknown, depth = 0): unknown {
  if (!isError(error)) return { message: removePasswords(String(error)) };
  const { message, stack, name, code, codeName, cause, errors } = error as unknown as Record<string, unknown>;
  const hasDepthLeft = depth < maxCauses;
  return {
    type: name,
    message: removePasswords(String(message)),
    ...(typeof stack === 'string' && { stack: removePasswords(stack) }),
    ...((typeof code === 'string' || typeof code === 'number') && { code }),
    ...(typeof codeName === 'string' && { codeName }),
    ...(cause !== undefined && hasDepthLeft && { cause: redactError(cause, depth + 1) }),
    ...(Array.isArray(errors) &&
      hasDepthLeft && { errors: errors.map((inner) => redactError(inner, depth + 1)) }),
  };
}

/** Removes credentials from URLs. Libraries put server URLs into error messages. */
function removePasswords(text: string): string {
  return text.replaceAll(/\b([a-z][a-z+.-]*:\/\/)[^\s/@]*@/gi, '$1[secret]@');
}

/** Checks the fields instead of the class, because an error of another realm is not an `instanceof Error`. */
function isError(value: unknown): value is Error {
  return typeof value === 'object' && value !== null && 'message' in value && 'stack' in value;
}

function isPlain(value: object): boolean {
  const prototype = Object.getPrototypeOf(value);
  // the prototype may belong to another realm
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}
