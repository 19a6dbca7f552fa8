/** The log: one JSON line for each unit of work, readable lines in a terminal. */
import { type DestinationStream, pino } from 'pino';
import pretty from 'pino-pretty';

/** A structured log. */
export type Log = pino.Logger;

/** A log that writes JSON lines or readable ones, to standard output unless told otherwise. */
export function newLog(of: { level: string; format: 'json' | 'pretty'; to?: DestinationStream }): Log {
  const options = {
    level: of.level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    serializers: { err: told },
  };
  if (of.to) return pino(options, of.to);
  if (of.format === 'json') return pino(options);
  return pino(
    options,
    pretty({
      sync: true,
      singleLine: true,
      colorize: process.stdout.isTTY,
      translateTime: 'SYS:HH:MM:ss',
      ignore: 'hostname,pid',
    }),
  );
}

/** How many causes of an error are told. */
const deepest = 5;

/**
 * What the log says of an error: what it is called and says, where it happened and why. What else libraries hang on
 * their errors, e.g. the row that MongoDB would not take, may be secret.
 */
function told(error: unknown, depth = 0): unknown {
  if (typeof error !== 'object' || error === null || !('message' in error)) return { message: String(error) };
  const { message, stack, name, code, codeName, cause, errors } = error as Record<string, unknown>;
  const inner = depth < deepest;
  return {
    type: name,
    message,
    stack,
    ...(code !== undefined && { code }),
    ...(codeName !== undefined && { codeName }),
    ...(cause !== undefined && inner && { cause: told(cause, depth + 1) }),
    ...(Array.isArray(errors) && inner && { errors: errors.map((one) => told(one, depth + 1)) }),
  };
}
