/** What commands work with: their output, the client, and the environment. */
import type { Readable, Writable } from 'node:stream';
import { type Client, createClient } from '../client.ts';
import { type Credentials, readCredentials } from './credentials.ts';

/** The streams and the environment of the program. */
export interface Io {
  stdin: Readable & { isTTY?: boolean };
  stdout: Writable & { isTTY?: boolean };
  stderr: Writable & { isTTY?: boolean };
  env: Readonly<Record<string, string | undefined>>;
  cwd: string;
  /** Aborted when the user interrupts the program. */
  signal: AbortSignal;
}

/** What a command gets. */
export interface Context extends Io {
  isJson: boolean;
  /** The address of `--url`. */
  url: string | undefined;
  /** Prints the result: as JSON with `--json`, else as text. */
  show(value: unknown, toText: () => string): void;
  /** Prints a line to stdout, without characters that control a terminal. */
  print(line: string): void;
  /** Prints a line to stderr. */
  note(line: string): void;
  /** Replaces the line that shows the progress on a terminal. Without text, removes it. */
  progress(text?: string): void;
  /** The credentials, or a `CommandError` that says how to log in. */
  credentials(): Promise<Credentials>;
  /** The client with these credentials. */
  client(): Promise<Client>;
}

/** Creates the context of a command. */
export function createContext(
  io: Io,
  { url, isJson }: { url: string | undefined; isJson: boolean },
): Context {
  let hasProgress = false;
  const progress = (text?: string) => {
    if (!io.stderr.isTTY || (text === undefined && !hasProgress)) return;
    hasProgress = text !== undefined;
    io.stderr.write(`\r\u001B[K${text === undefined ? '' : toPlainText(text).slice(0, 100)}`);
  };
  const write = (stream: Writable, line: string) => {
    progress();
    stream.write(`${line}\n`);
  };
  const context: Context = {
    ...io,
    isJson,
    url,
    show(value, toText) {
      if (isJson) write(io.stdout, JSON.stringify(value, null, 2));
      else context.print(toText());
    },
    print: (line) => write(io.stdout, toPlainText(line)),
    note: (line) => write(io.stderr, toPlainText(line)),
    progress,
    credentials: () => readCredentials(io.env, url),
    client: async () => createClient({ ...(await context.credentials()), signal: io.signal }),
  };
  return context;
}

/** Removes characters that control a terminal, because titles and names come from other people. */
export function toPlainText(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters to remove
  return text.replaceAll(/[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u202A-\u202E\u2066-\u2069]/g, '�');
}

/** Aligns rows in columns, under their headings. The last column is not padded. */
export function formatTable(headings: readonly string[], rows: readonly (readonly unknown[])[]): string {
  const cells = [headings, ...rows].map((row) =>
    row.map((cell) => String(cell ?? '').replaceAll(/\s+/g, ' ')),
  );
  // not Math.max(...cells), which fails above some 100,000 arguments
  const widths = headings.map((_, at) => cells.reduce((max, row) => Math.max(max, row[at]?.length ?? 0), 0));
  return cells
    .map((row) =>
      row
        .map((cell, at) => (at === row.length - 1 ? cell : cell.padEnd(widths[at] ?? 0)))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
