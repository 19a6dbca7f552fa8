/** The log: one JSON line for each unit of work, readable lines in a terminal; what is secret by its type is not in it. */
import { type DestinationStream, pino } from 'pino';
import pretty from 'pino-pretty';
import { redacted } from './redacting.ts';

/** A structured log. */
export type Log = pino.Logger;

/** A log that writes JSON lines or readable ones, to standard output unless told otherwise. */
export function newLog(of: { level: string; format: 'json' | 'pretty'; to?: DestinationStream }): Log {
  const options = {
    level: of.level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    // the formatter has told it already; pino's own would tell everything that hangs on it
    serializers: { err: (told: unknown) => told },
    formatters: { log: redacted, bindings: redacted },
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
