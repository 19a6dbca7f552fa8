/** The log: one JSON line for each unit of work, readable lines in a terminal; what is secret by its type is not in it. */
import { type DestinationStream, type LoggerOptions, pino } from 'pino';
import pretty from 'pino-pretty';
import { redacted } from './redaction.ts';

/** A structured log. */
export type Log = pino.Logger;

/** How a log writes. */
export interface LogOptions {
  level: string;
  format: 'json' | 'pretty';
  /** Takes JSON lines instead of standard output. */
  to?: DestinationStream;
}

/** A log that writes JSON lines or readable ones, to standard output unless told otherwise. */
export function newLog(options: LogOptions): Log {
  return pino(pinoOptions(options), destination(options));
}

/** A log that holds its lines back until `release`, so that a program may print something else first. */
export function newBufferedLog(options: LogOptions): { log: Log; release(): void } {
  const target = destination(options);
  let held: string[] | undefined = [];
  const to: DestinationStream = {
    write: (line) => {
      if (held) held.push(line);
      else target.write(line);
    },
  };
  const release = () => {
    const lines = held ?? [];
    held = undefined;
    for (const line of lines) target.write(line);
  };
  return { log: pino(pinoOptions(options), to), release };
}

function pinoOptions({ level }: LogOptions): LoggerOptions {
  return {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    // the formatter has told it already; pino's own would tell everything that hangs on it
    serializers: { err: (told: unknown) => told },
    formatters: { log: redacted, bindings: redacted },
  };
}

function destination({ format, to }: LogOptions): DestinationStream {
  if (to) return to;
  if (format === 'json') return pino.destination(1);
  return pretty({
    sync: true,
    singleLine: true,
    colorize: process.stdout.isTTY,
    translateTime: 'SYS:HH:MM:ss',
    ignore: 'hostname,pid',
  });
}
