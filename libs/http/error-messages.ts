/** What a caller reads about each mistake in a request: one text per kind of mistake, for every shape. */
import type { z } from 'zod';

/** One mistake of a request: where it is, e.g. `body/title`, and what to do about it. */
export interface InputError {
  path: string;
  message: string;
}

/**
 * Checks a value; every mistake goes to `faults`, below `where`. Gives the parsed value if there was none.
 */
export function checkShape(
  shape: z.ZodType | undefined,
  value: unknown,
  where: string,
  errors: InputError[],
): unknown {
  if (!shape) return undefined;
  const result = shape.safeParse(value, { error: describeIssue });
  if (result.success) return result.data;
  for (const issue of result.error.issues) errors.push(...toInputErrors(issue, where));
  return undefined;
}

function toInputErrors(issue: z.core.$ZodIssue, where: string): InputError[] {
  const path = [where, ...issue.path].join('/');
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map((key) => ({ path: `${path}/${key}`, message: 'Unknown field' }));
  const branch = issue.code === 'invalid_union' ? closestBranch(issue.errors) : undefined;
  return branch?.flatMap((one) => toInputErrors(one, path)) ?? [{ path, message: issue.message }];
}

/**
 * The alternative of a union that the value comes closest to: it has the right type, and its mistakes are
 * deepest.
 */
function closestBranch(branches: readonly z.core.$ZodIssue[][]): z.core.$ZodIssue[] | undefined {
  const isOfOtherType = (one: z.core.$ZodIssue) => one.path.length === 0 && one.code === 'invalid_type';
  const fitting = branches.filter((issues) => !issues.some(isOfOtherType));
  const depth = (issues: z.core.$ZodIssue[]) => Math.max(...issues.map(({ path }) => path.length));
  return fitting.toSorted((a, b) => depth(b) - depth(a))[0];
}

/** The text of an issue; undefined if zod's own text serves. */
function describeIssue(issue: z.core.$ZodRawIssue): string | undefined {
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

/** Names what was sent where that helps: a number that is not finite came from text. */
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
