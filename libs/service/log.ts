/**
 * The log: one JSON line for each unit of work, readable lines in a terminal; what is secret by its type is
 * not in it.
 */
import { type DestinationStream, type LoggerOptions, pino } from 'pino';
import pretty from 'pino-pretty';
import { redactFields } from './redaction.ts';

/** A structured log. */
export type Log = pino.Logger;

/** How a log writes. */
export interface LogOptions {
  level: string;
  format: 'json' | 'pretty';
  /** Takes JSON lines instead of standard output. */
  destination?: DestinationStream;
}

/** A log that writes JSON lines or readable ones, to standard output unless told otherwise. */
export function createLog(options: LogOptions): Log {
  return pino(toPinoOptions(options), openDestination(options));
}

/** A log that holds its lines back until `release`, so that a program may print something else first. */
export function createBufferedLog(options: LogOptions): { log: Log; release(): void } {
  const target = openDestination(options);
  let buffer: string[] | undefined = [];
  const to: DestinationStream = {
    write: (line) => {
      if (buffer) buffer.push(line);
      else target.write(line);
    },
  };
  const release = () => {
    const lines = buffer ?? [];
    buffer = undefined;
    for (const line of lines) target.write(line);
  };
  return { log: pino(toPinoOptions(options), to), release };
}

function toPinoOptions({ level }: LogOptions): LoggerOptions {
  return {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    // the formatter has told it already; pino's own would tell everything that hangs on it
    serializers: { err: (told: unknown) => told },
    formatters: { log: redactFields, bindings: redactFields },
  };
}

function openDestination({ format, destination }: LogOptions): DestinationStream {
  if (destination) return destination;
  if (format === 'json') return pino.destination(1);
  return pretty({
    sync: true,
    singleLine: true,
    colorize: process.stdout.isTTY,
    translateTime: 'SYS:HH:MM:ss',
    ignore: 'hostname,pid',
  });
}
