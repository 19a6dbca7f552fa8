/** The log: one JSON line per unit of work, or readable lines in a terminal. Secrets are redacted by type. */
import { createRequire } from 'node:module';
import { type DestinationStream, type LoggerOptions, pino } from 'pino';
import { redactFields } from './redaction.ts';

/** A structured logger. */
export type Log = pino.Logger;

/** Options of a log. */
export interface LogOptions {
  level: string;
  format: 'json' | 'pretty';
  /** Where JSON lines are written, instead of standard output. */
  destination?: DestinationStream;
}

/** Creates a log that writes JSON or readable lines, by default to standard output. */
export function createLog(options: LogOptions): Log {
  return pino(toPinoOptions(options), openDestination(options));
}

/** Creates a log that buffers its lines until `release`, so that a program can print something else first. */
export function createBufferedLog(options: LogOptions): { log: Log; release(): void } {
  const target = openDestination(options);
  let buffer: string[] | undefined = [];
  const buffered: DestinationStream = {
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
  return { log: pino(toPinoOptions(options), buffered), release };
}

function toPinoOptions({ level }: LogOptions): LoggerOptions {
  return {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    // the formatter has already redacted the error; pino's own serializer would write all its fields
    serializers: { err: (redacted: unknown) => redacted },
    formatters: { log: redactFields, bindings: redactFields },
  };
}

function openDestination({ format, destination }: LogOptions): DestinationStream {
  if (destination) return destination;
  // synchronous, like Node's own standard output: otherwise pino writes buffered lines at the exit, where it retries
  // forever if the reader of the pipe has gone
  const output = pino.destination({ dest: 1, sync: true });
  if (format === 'json') return output;
  // loaded only for readable lines
  const { prettyFactory }: typeof import('pino-pretty') = createRequire(import.meta.url)('pino-pretty');
  const toReadable = prettyFactory({
    singleLine: true,
    colorize: process.stdout.isTTY,
    translateTime: 'SYS:HH:MM:ss',
    // the lines have no fields to leave out, and looking for these would copy every line
    ignore: '',
  });
  // called directly: the stream of pino-pretty costs as much as the formatting
  return { write: (line) => void output.write(toReadable(line)) };
}
