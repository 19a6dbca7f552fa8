/** Parses multipart/form-data: text fields and one file, with size limits and without temporary files. */
import { createHash } from 'node:crypto';
import { Busboy } from '@fastify/busboy';
import type { Request } from 'express';
import {
  addError,
  type InputErrors,
  MalformedMultipart,
  type Multipart,
  PayloadTooLarge,
} from '#libs/contract';
import type { BodyLease } from './body-budget.ts';
import { formatBytes } from './format-bytes.ts';

interface UploadedFile {
  name: string;
  bytes: Uint8Array;
}

/** A parsed multipart body. If a field is sent twice, the first one is used. */
export interface MultipartBody {
  fields: Record<string, string>;
  file: UploadedFile | undefined;
  fingerprint: string;
}

/**
 * Reads all parts. Throws `MalformedMultipart` for another media type, a missing boundary or an incomplete
 * body. Adds an error for a missing or second file and for files with other names.
 */
export async function readMultipart(
  request: Request,
  shape: Multipart,
  lease: BodyLease,
  errors: InputErrors,
): Promise<MultipartBody> {
  const boundary = readBoundary(request.headers['content-type'] ?? '');
  if (!/^\s*(identity)?\s*$/i.test(request.headers['content-encoding'] ?? '')) {
    throw MalformedMultipart('Send the body without Content-Encoding.', {
      headers: { 'Accept-Encoding': 'identity' },
    });
  }
  const { fields, files, hasSecondFile } = await readParts(request, boundary, shape, lease);
  const file = files.get(shape.file);
  for (const name of files.keys())
    if (name !== shape.file) addError(errors, { path: `body/${name}`, message: 'Unknown field' });
  for (const [name, value] of Object.entries(fields))
    if (value.includes(replacement))
      addError(errors, { path: `body/${name}`, message: 'Must be valid UTF-8, without U+FFFD' });
  if (!file) addError(errors, { path: `body/${shape.file}`, message: 'A file is required' });
  if (hasSecondFile) addError(errors, { path: `body/${shape.file}`, message: 'Send only one file' });
  const hash = createHash('sha256').update(JSON.stringify(fields));
  if (file) hash.update(`\n${file.name}\n`).update(file.bytes);
  return { fields, file, fingerprint: hash.digest('hex') };
}

/** Returns the boundary of a media type. The parser reads parameters in another way, and throws for long boundaries. */
function readBoundary(contentType: string): string {
  const [, parameters] = /^\s*multipart\/form-data\s*(;.*)$/i.exec(contentType) ?? [];
  const found = [...(parameters ?? '').matchAll(/;\s*([^\s=;"]+)=("[^"]*"|[^\s;"]*)\s*(?=;|$)/g)];
  const [boundary, ...others] = found.flatMap(([, name, value]) =>
    name?.toLowerCase() === 'boundary' ? [value?.replaceAll('"', '') ?? ''] : [],
  );
  if (boundary === undefined || others.length > 0)
    throw MalformedMultipart('Send the body as `multipart/form-data` with one boundary.');
  // RFC 2046 allows 70 characters
  if (!/^[^\\]{1,70}$/.test(boundary)) throw MalformedMultipart('The boundary must have 1 to 70 characters.');
  return boundary;
}

/** What the parser puts in the place of bytes that are not UTF-8: another text than the one that was sent. */
const replacement = '\ufffd';

function readParts(request: Request, boundary: string, shape: Multipart, lease: BodyLease) {
  const fields: Record<string, string> = {};
  const files = new Map<string, UploadedFile>();
  const parts = { fields, files, hasSecondFile: false };
  return new Promise<typeof parts>((resolve, reject) => {
    const limits = {
      fileSize: shape.maxFileBytes,
      files: 4,
      fields: 50,
      fieldSize: maxFieldBytes,
      parts: 60,
    };
    const contentType = `multipart/form-data; boundary="${boundary}"`;
    const parser = new Busboy({ headers: { ...request.headers, 'content-type': contentType }, limits });
    const fail = (error: unknown) => {
      request.unpipe(parser);
      request.resume();
      reject(error);
    };
    const take = (bytes: number) => {
      try {
        lease.take(bytes);
      } catch (error) {
        fail(error);
      }
    };
    parser.on('field', (name, value, _nameCut, valueCut) => {
      take(Buffer.byteLength(value));
      if (valueCut) fail(tooLarge(`The field ${name}`, maxFieldBytes));
      if (!Object.hasOwn(fields, name)) fields[name] = value;
    });
    parser.on('file', (name, stream, filename) => {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => {
        if (name !== shape.file) return;
        chunks.push(chunk);
        take(chunk.length);
      });
      stream.on('limit', () => fail(tooLarge('The file', shape.maxFileBytes)));
      stream.on('error', () => fail(MalformedMultipart()));
      stream.on('end', () => {
        if (name === shape.file && files.has(name)) parts.hasSecondFile = true;
        else files.set(name, { name: filename ?? '', bytes: Buffer.concat(chunks) });
        // the request refers to the chunks until its response ends
        chunks.length = 0;
      });
    });
    parser.on('error', () => fail(MalformedMultipart()));
    parser.on('finish', () => resolve(parts));
    for (const limit of ['partsLimit', 'filesLimit', 'fieldsLimit'] as const)
      parser.on(limit, () => fail(MalformedMultipart('The body has too many parts.')));
    request.on('close', () => request.complete || fail(MalformedMultipart('The body is incomplete.')));
    request.pipe(parser);
  });
}

const maxFieldBytes = 64 * 1024;

function tooLarge(subject: string, limit: number) {
  return PayloadTooLarge(`${subject} is larger than ${formatBytes(limit)}.`, {
    extra: { limit_bytes: limit },
  });
}
