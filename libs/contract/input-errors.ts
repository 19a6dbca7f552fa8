/** Validation and its error messages: one message per kind of error, for all schemas. */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { z } from 'zod';
import { type InputError, maxListedErrors } from './problem.ts';

/** The errors of a request: at most 100 of them, and how many there are. */
export interface InputErrors {
  listed: InputError[];
  total: number;
}

/** Creates an empty list of errors. */
export const createInputErrors = (): InputErrors => ({ listed: [], total: 0 });

/** Adds an error. Only the first 100 are kept. */
export function addError(errors: InputErrors, error: InputError): void {
  errors.total += 1;
  if (errors.listed.length < maxListedErrors) errors.listed.push(error);
}

/**
 * The validation in progress: how many errors `reportErrors` has passed on, how many the items of lists have, and
 * whether items were not validated because of them.
 */
interface Validation {
  reported: number;
  itemErrors: number;
  isIncomplete: boolean;
}

const validation = new AsyncLocalStorage<Validation>();
const startValidation = (): Validation => ({ reported: 0, itemErrors: 0, isIncomplete: false });

/** Once the items of lists have so many errors, further items are not validated. */
const maxItemErrors = 10 * maxListedErrors;

/**
 * Stops the validation of a long list: after 1,000 errors, further items are not validated. A hostile request would
 * otherwise take 50 times as long as a correct one. zod has no option for it, so this replaces the method `run` of the
 * schema.
 */
export function stopAfterErrors<Item extends z.ZodType>(item: Item): Item {
  const { run } = item._zod;
  item._zod.run = (payload, context) => {
    const request = validation.getStore();
    if (!request) return run(payload, context);
    const { itemErrors } = request;
    if (itemErrors >= maxItemErrors) {
      // the first of them fails, so that no check of the list sees items that were not validated
      if (!request.isIncomplete)
        payload.issues.push({
          code: 'custom',
          input: payload.value,
          message: 'Not validated after so many errors',
        });
      request.isIncomplete = true;
      return payload;
    }
    const result = run(payload, context);
    // those of items in this item are among them
    if (!(result instanceof Promise)) request.itemErrors = itemErrors + result.issues.length;
    return result;
  };
  return item;
}

/**
 * For a value that can have many errors and occurs many times in a request: calls `find` with the number of errors
 * that are worth looking for. It is `most` until the request has more errors than a response lists, and then 1, so that
 * a hostile request costs neither memory nor time.
 */
export function reportErrors<T>(most: number, find: (maxErrors: number) => readonly T[]): readonly T[] {
  const request = validation.getStore() ?? startValidation();
  const errors = find(request.reported < maxListedErrors ? most : 1);
  request.reported += errors.length;
  return errors;
}

/**
 * Validates a value. Adds every error to `errors`, with paths below `where`. Returns the parsed value if
 * there are no errors.
 */
export function checkShape(
  shape: z.ZodType | undefined,
  value: unknown,
  where: string,
  errors: InputErrors,
): unknown {
  if (!shape) return undefined;
  const request = startValidation();
  const result = validation.run(request, () => shape.safeParse(value, { error: describeIssue }));
  if (result.success && request.isIncomplete) throw new Error('A schema ignored the errors of its items');
  if (result.success) return result.data;
  for (const issue of result.error.issues) addIssue(issue, where, errors);
  return undefined;
}

function addIssue(issue: z.core.$ZodIssue, where: string, errors: InputErrors): void {
  const path = [where, ...issue.path.map(cutKey)].join('/');
  if (issue.code === 'unrecognized_keys')
    for (const key of issue.keys)
      addError(errors, { path: `${path}/${cutKey(key)}`, message: 'Unknown field' });
  else {
    const branch = issue.code === 'invalid_union' ? closestBranch(issue.errors) : undefined;
    if (!branch) addError(errors, { path, message: issue.message });
    else for (const inner of branch) addIssue(inner, path, errors);
  }
}

/** Cuts a key of an untrusted value, which can be megabytes long, to 64 characters, and makes it valid Unicode. */
function cutKey(key: PropertyKey): string {
  return String(key).slice(0, 64).toWellFormed();
}

/**
 * Returns the alternative of a union that is closest to the value: it has the right type, and its errors are
 * the most deeply nested.
 */
function closestBranch(branches: readonly z.core.$ZodIssue[][]): z.core.$ZodIssue[] | undefined {
  const isOfOtherType = ({ path, code }: z.core.$ZodIssue) => path.length === 0 && code === 'invalid_type';
  const matching = branches.filter((issues) => !issues.some(isOfOtherType));
  const depth = (issues: z.core.$ZodIssue[]) =>
    issues.reduce((max, { path }) => Math.max(max, path.length), 0);
  return matching.toSorted((a, b) => depth(b) - depth(a))[0];
}

/** Returns the message of an issue, or `undefined` to use zod's own message. */
export function describeIssue(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.input === undefined && (issue.code === 'invalid_type' || issue.code === 'invalid_value'))
    return 'Required';
  switch (issue.code) {
    case 'invalid_type':
      return `Must be ${types[issue.expected] ?? issue.expected}${describeReceived(issue.input)}`;
    case 'invalid_value':
      return issue.expected === 'stringbool'
        ? 'Use true or false'
        : `Use ${issue.values.length > 1 ? 'one of: ' : ''}${issue.values.map(String).join(', ')}`;
    case 'invalid_format':
      return formats[issue.format] ?? 'Has the wrong format';
    case 'too_small':
      return issue.origin === 'string' && Number(issue.minimum) === 1
        ? 'Must not be empty'
        : `Must ${describeAmount(issue.origin, 'at least', issue.minimum)}`;
    case 'too_big':
      return `Must ${describeAmount(issue.origin, 'at most', issue.maximum)}`;
    default:
      return undefined;
  }
}

const types: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  object: 'an object',
  record: 'an object',
  array: 'a list',
};

const formats: Readonly<Record<string, string>> = {
  datetime: 'Must be a time in ISO 8601 such as 2026-11-21T09:30:00Z',
  uuid: 'Must be an identifier (UUID)',
  email: 'Must be an email address such as name@example.com',
  url: 'Must be a URL such as https://example.com',
};

/**
 * Names the type that was sent, if that helps. A number that is not finite came from text, so it is not
 * named.
 */
function describeReceived(input: unknown): string {
  if (input === null) return ', not null';
  if (Array.isArray(input)) return ', not a list';
  if (typeof input === 'number' && !Number.isSafeInteger(input)) return '';
  if (typeof input === 'boolean') return ', not true or false';
  return typeof input === 'object' ? ', not an object' : `, not a ${typeof input}`;
}

function describeAmount(origin: string, bound: string, limit: number | bigint): string {
  if (origin === 'string') return `have ${bound} ${limit} character${plural(limit)}`;
  if (origin === 'array' || origin === 'set') return `have ${bound} ${limit} item${plural(limit)}`;
  return `be ${bound} ${limit}`;
}

function plural(count: number | bigint): string {
  return Number(count) === 1 ? '' : 's';
}
