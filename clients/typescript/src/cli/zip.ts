/** Writes a zip archive. */
import { gzipSync } from 'node:zlib';

/** The earliest day that a zip can store: 1980-01-01. The archive does not contain the times of the files. */
const day = 0x21;
/** The names are UTF-8. */
const flags = 0x0800;
const version = 20;

/** Creates an archive of files by their names. They are not compressed, because pictures are compressed already. */
export function createZip(files: ReadonlyMap<string, Uint8Array>): Uint8Array<ArrayBuffer> {
  const parts: Uint8Array[] = [];
  const directory: Uint8Array[] = [];
  let offset = 0;
  for (const [name, bytes] of files) {
    const encoded = Buffer.from(name);
    const fields = Buffer.alloc(26);
    fields.writeUInt16LE(version, 0);
    fields.writeUInt16LE(flags, 2);
    fields.writeUInt16LE(day, 8);
    fields.writeUInt32LE(toCrc(bytes), 10);
    fields.writeUInt32LE(bytes.byteLength, 14);
    fields.writeUInt32LE(bytes.byteLength, 18);
    fields.writeUInt16LE(encoded.byteLength, 22);
    const position = Buffer.alloc(14);
    position.writeUInt32LE(offset, 10);
    directory.push(Buffer.from([0x50, 0x4b, 1, 2, version, 0]), fields, position, encoded);
    parts.push(Buffer.from([0x50, 0x4b, 3, 4]), fields, encoded, bytes);
    offset += 4 + fields.byteLength + encoded.byteLength + bytes.byteLength;
  }
  const entries = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.set([0x50, 0x4b, 5, 6]);
  end.writeUInt16LE(files.size, 8);
  end.writeUInt16LE(files.size, 10);
  end.writeUInt32LE(entries.byteLength, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...parts, entries, end]);
}

/** `crc32` of Node is newer than the oldest Node that the package supports, but the end of a gzip file has it. */
function toCrc(bytes: Uint8Array): number {
  return gzipSync(bytes, { level: 0 }).subarray(-8).readUInt32LE();
}
