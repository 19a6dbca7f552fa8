/** Unpacks untrusted zip archives within limits; sizes declared in the archive are never trusted. */
import { crc32 } from 'node:zlib';
import * as yauzl from 'yauzl';
import { PackageRejected, reject } from './fault.ts';

/** The parts of an archive by name, in their order. */
export type Parts = Map<string, Uint8Array>;

/** Limits; sizes are in bytes. `ratio` (unpacked to packed) applies to parts larger than `ratioFromBytes`. */
export type UnpackLimits = {
  fileBytes: number;
  entries: number;
  unpackedBytes: number;
  ratio: number;
  ratioFromBytes: number;
};

const MIB = 1024 * 1024;

/** The limits of an uploaded template. */
export const uploadLimits: UnpackLimits = {
  fileBytes: 10 * MIB,
  entries: 2_000,
  unpackedBytes: 50 * MIB,
  ratio: 200,
  ratioFromBytes: MIB,
};

/** Unpacks all parts. Rejects bombs, overlaps, unsafe or duplicate names, encryption and damage. */
export async function unpack(file: Uint8Array, limits: UnpackLimits = uploadLimits): Promise<Parts> {
  checkSignature(file, limits);
  try {
    return await readParts(file, limits);
  } catch (error) {
    if (error instanceof PackageRejected) throw error;
    return reject(
      'damaged',
      'The file is damaged or incomplete; open it in Word and save it again as .docx.',
    );
  }
}

function checkSignature(file: Uint8Array, limits: UnpackLimits): void {
  if (file.length > limits.fileBytes)
    reject('too_large', `The file is larger than ${limits.fileBytes / MIB} MiB; make its pictures smaller.`);
  const bytes = Buffer.from(file.buffer, file.byteOffset, file.byteLength);
  if (bytes.length >= 4 && bytes.readUInt32BE(0) === 0xd0cf11e0) {
    if (bytes.includes(Buffer.from('EncryptedPackage', 'utf16le')))
      reject(
        'password_protected',
        'The file is protected with a password; remove the password and upload it again.',
      );
    reject('legacy_doc', 'The file is in the old .doc format; save it in Word as "Word Document (.docx)".');
  }
  if (bytes.length < 22 || bytes.readUInt32BE(0) !== 0x504b0304)
    reject('not_docx', 'The file is not a Word document; upload a .docx file.');
}

/** Whether the directory of an archive lists a part; undefined if it is damaged or too long, which `unpack` rejects. */
export async function hasPart(
  file: Uint8Array,
  name: string,
  { entries } = uploadLimits,
): Promise<boolean | undefined> {
  try {
    const archive = await openArchive(file);
    if (archive.entryCount > entries) return undefined;
    for await (const entry of archive.eachEntry()) if (decodeName(entry) === name) return true;
    return false;
  } catch {
    return undefined;
  }
}

function openArchive(file: Uint8Array): Promise<yauzl.ZipFile> {
  const bytes = Buffer.from(file.buffer, file.byteOffset, file.byteLength);
  return yauzl.fromBufferPromise(bytes, { decodeStrings: false, validateEntrySizes: false });
}

async function readParts(file: Uint8Array, limits: UnpackLimits): Promise<Parts> {
  const archive = await openArchive(file);
  if (archive.entryCount > limits.entries)
    reject('too_many_parts', `The file has more than ${limits.entries} parts; save it again in Word.`);
  const entries: yauzl.Entry[] = [];
  for await (const entry of archive.eachEntry()) entries.push(entry);
  const names = entries.map(decodeName);
  checkNames(names);
  for (const entry of entries) checkEntry(entry);
  await checkOverlap(archive, entries, names);
  const parts: Parts = new Map();
  let left = limits.unpackedBytes;
  for (const [index, entry] of entries.entries()) {
    const name = names[index] ?? '';
    if (name.endsWith('/')) continue;
    const bytes = await inflate(archive, entry, left, limits);
    left -= bytes.length;
    parts.set(name, bytes);
  }
  return parts;
}

function decodeName(entry: yauzl.Entry): string {
  return yauzl.getFileNameLowLevel(entry.generalPurposeBitFlag, entry.fileNameRaw, entry.extraFields, true);
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: names with control characters are rejected
const UNSAFE = /^\/|^[a-z]:|[\\\u0000-\u001f\ufffd]/i;

function checkNames(names: string[]): void {
  const seen = new Set<string>();
  for (const name of names) {
    const isUnsafe = UNSAFE.test(name) || name.split('/').some((segment) => /^\.+$/.test(segment));
    if (isUnsafe)
      reject('unsafe_name', 'The file contains a part with an unsafe name; save it again in Word.');
    const key = name.toLowerCase();
    if (seen.has(key))
      reject('duplicate_part', 'The file contains two parts with the same name; save it again in Word.');
    seen.add(key);
  }
}

function checkEntry(entry: yauzl.Entry): void {
  if ((entry.generalPurposeBitFlag & 0x2041) !== 0)
    reject('encrypted', 'The file is encrypted; remove its protection and upload it again.');
  if (entry.compressionMethod !== 0 && entry.compressionMethod !== 8)
    reject('compression', 'The file uses a compression that Word does not use; save it again in Word.');
}

/**
 * Rejects entries that share bytes, because with them a small file can unpack to a huge one. yauzl checks
 * that no entry exceeds the file, so all packed parts together are not larger than the file.
 */
async function checkOverlap(archive: yauzl.ZipFile, entries: yauzl.Entry[], names: string[]): Promise<void> {
  const ranges: { from: number; to: number }[] = [];
  for (const [index, entry] of entries.entries()) {
    const header = await archive.readLocalFileHeaderPromise(entry);
    const flag = header.generalPurposeBitFlag;
    const name = yauzl.getFileNameLowLevel(flag, header.fileName, [], true);
    if (name !== names[index] && !header.fileName.equals(entry.fileNameRaw))
      reject(
        'damaged',
        'The file contains a part with two different names; open it in Word and save it again as .docx.',
      );
    ranges.push({
      from: entry.relativeOffsetOfLocalHeader,
      to: header.fileDataStart + entry.compressedSize,
    });
  }
  ranges.sort((a, b) => a.from - b.from);
  if (ranges.some((range, index) => range.from < (ranges[index - 1]?.to ?? 0))) rejectOverlap();
}

/** Unpacks one part. Counts the actual output and stops after `left` bytes or at the maximum ratio. */
async function inflate(
  archive: yauzl.ZipFile,
  entry: yauzl.Entry,
  left: number,
  limits: UnpackLimits,
): Promise<Uint8Array> {
  const stream = await archive.openReadStreamPromise(entry);
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > left) rejectUnpackedSize(limits.unpackedBytes);
    if (size > limits.ratioFromBytes && size > entry.compressedSize * limits.ratio)
      reject('bomb', 'The file unpacks to far more than its size; save it again in Word.');
    chunks.push(chunk);
  }
  const bytes = Buffer.concat(chunks, size);
  if (size !== entry.uncompressedSize || crc32(bytes) !== entry.crc32)
    reject(
      'damaged',
      'The file is damaged (a checksum is wrong); open it in Word and save it again as .docx.',
    );
  return bytes;
}

function rejectOverlap(): never {
  return reject('overlapping_parts', 'The parts of the file overlap each other; save it again in Word.');
}

function rejectUnpackedSize(bytes: number): never {
  return reject(
    'unpacked_too_large',
    `The file unpacks to more than ${bytes / MIB} MiB; make its pictures smaller.`,
  );
}
