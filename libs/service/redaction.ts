/** Redacting: what may be logged of a value, by its type, however deep it lies. */
import { KeyObject } from 'node:crypto';
import { Secret } from '#libs/contract';

/** How many levels are told; what lies deeper is `[…]`. */
const maxDepth = 6;
/** How many things of a list are told. */
const maxItems = 50;

/** Fields of a line as they may be written; what needs no change is handed on as it is. */
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

/** What may be told of a value. */
function redactValue(value: unknown, depth: number): unknown {
  if (typeof value === 'function' || typeof value === 'symbol') return undefined;
  if (typeof value === 'bigint') return String(value);
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Secret || value instanceof KeyObject) return '[secret]';
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return `[${value.byteLength} bytes]`;
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString();
  if (isError(value)) return redactError(value, depth);
  if (depth >= maxDepth) return '[…]';
  if (Array.isArray(value)) return value.slice(0, maxItems).map((one) => redactValue(one, depth + 1));
  if (value instanceof Set) return [...value].slice(0, maxItems).map((one) => redactValue(one, depth + 1));
  if (value instanceof Map) return '[a map]';
  // a model, a connection, a request: whatever it holds was not meant to be read
  if (!isPlain(value)) return `[${value.constructor?.name ?? 'an object'}]`;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, redactValue(one, depth + 1)]));
}

/** How many causes of an error are told. */
const maxCauses = 5;

/**
 * What may be told of an error: what it is called and says, where it happened and why. What else libraries
 * hang on their errors, e.g. the row that MongoDB would not take, may be secret.
 */
function redactError(error: unknown, depth = 0): unknown {
  if (!isError(error)) return { message: removePasswords(String(error)) };
  const { message, stack, name, code, codeName, cause, errors } = error as unknown as Record<string, unknown>;
  const inner = depth < maxCauses;
  return {
    type: name,
    message: removePasswords(String(message)),
    ...(typeof stack === 'string' && { stack: removePasswords(stack) }),
    ...((typeof code === 'string' || typeof code === 'number') && { code }),
    ...(typeof codeName === 'string' && { codeName }),
    ...(cause !== undefined && inner && { cause: redactError(cause, depth + 1) }),
    ...(Array.isArray(errors) && inner && { errors: errors.map((one) => redactError(one, depth + 1)) }),
  };
}

/** Addresses of servers stand in messages of libraries, with the way into them. */
function removePasswords(text: string): string {
  return text.replaceAll(/\b([a-z][a-z+.-]*:\/\/)[^\s/@]*@/gi, '$1[secret]@');
}

/** By what it has: errors of another realm are no instances of ours. */
function isError(value: unknown): value is Error {
  return typeof value === 'object' && value !== null && 'message' in value && 'stack' in value;
}

function isPlain(value: object): boolean {
  const prototype = Object.getPrototypeOf(value);
  // also of another realm
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}
