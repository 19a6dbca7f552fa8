/** The log: one JSON line for each unit of work, readable lines in a terminal. */
import { pino } from 'pino';
import pretty from 'pino-pretty';

/** A structured log. */
export type Log = pino.Logger;

/** A log that writes to standard output: JSON lines, or readable ones. */
export function newLog(of: { level: string; format: 'json' | 'pretty' }): Log {
  const options = { level: of.level, base: null, timestamp: pino.stdTimeFunctions.isoTime };
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
