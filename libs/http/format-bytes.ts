/** Formats sizes for messages to people. */

const units: readonly [name: string, bytes: number][] = [
  ['MiB', 1024 * 1024],
  ['KiB', 1024],
];

/** Formats a number of bytes in the largest unit that it fills, e.g. `1 MiB`, `1.5 KiB`, `1 byte`. */
export function formatBytes(bytes: number): string {
  const [name, size] = units.find(([, size]) => bytes >= size) ?? [bytes === 1 ? 'byte' : 'bytes', 1];
  return `${Math.round((bytes / size) * 100) / 100} ${name}`;
}
