/** Reads a request: path, query and body become what the operation's shapes say, or problems. */
import type { Request, Response } from 'express';
import express from 'express';
import type { z } from 'zod';
import {
  type AnyOperation,
  InvalidRequest,
  MalformedJson,
  NotFound,
  PayloadTooLarge,
  UnsupportedMediaType,
} from '#libs/contract';
import { readMultipart } from './multipart.ts';

const standardBodyBytes = 1024 * 1024;

/** A request that fits its operation. */
export interface Parsed {
  params: unknown;
  query: unknown;
  body: unknown;
  /** The body's bytes in a canonical form, to recognise a repeated request. */
  fingerprint: Uint8Array | string;
}

interface Fault {
  path: string;
  message: string;
}

/** Parses all of a request; all mistakes of its form at once. An ill-formed id in the path is `NotFound`. */
export async function parseRequest(
  operation: AnyOperation,
  request: Request,
  response: Response,
): Promise<Parsed> {
  const faults: Fault[] = [];
  const query = check(operation.query, request.query, 'query', faults);
  const body = await readBody(operation, request, response, faults);
  if (faults.length > 0) throw InvalidRequest(undefined, { extra: { errors: faults } });
  const params = operation.params?.safeParse(request.params);
  if (params && !params.success) throw NotFound();
  return { params: params?.data ?? {}, query: query ?? {}, body: body.value, fingerprint: body.fingerprint };
}

async function readBody(operation: AnyOperation, request: Request, response: Response, faults: Fault[]) {
  const shape = operation.body;
  if (!shape) return { value: undefined, fingerprint: '' };
  if ('file' in shape) {
    const { fields, file, fingerprint } = await readMultipart(request, shape, faults);
    return { value: { fields: check(shape.fields, fields, 'body', faults), file }, fingerprint };
  }
  const bytes = await readBytes(request, response, operation.maxBodyBytes ?? standardBodyBytes);
  if (bytes && !request.is(['application/json', '+json'])) throw UnsupportedMediaType();
  return {
    value: check(shape, bytes ? parseJson(bytes) : undefined, 'body', faults),
    fingerprint: bytes ?? '',
  };
}

function check(shape: z.ZodType | undefined, value: unknown, where: string, faults: Fault[]): unknown {
  if (!shape) return undefined;
  const result = shape.safeParse(value);
  if (result.success) return result.data;
  for (const issue of result.error.issues) faults.push(...faultsOf(issue, where));
  return undefined;
}

function faultsOf(issue: z.core.$ZodIssue, where: string): Fault[] {
  const path = [where, ...issue.path].join('/');
  if (issue.code !== 'unrecognized_keys') return [{ path, message: issue.message }];
  return issue.keys.map((key) => ({ path: `${path}/${key}`, message: 'Unknown field' }));
}

/** The body's bytes, unzipped; nothing when there is none. */
function readBytes(request: Request, response: Response, limit: number): Promise<Uint8Array | undefined> {
  const read = express.raw({ type: () => true, limit });
  return new Promise((resolve, reject) => {
    read(request, response, (error?: unknown) => {
      if (error) reject(bodyProblem(error, limit));
      else resolve(Buffer.isBuffer(request.body) && request.body.length > 0 ? request.body : undefined);
    });
  });
}

function bodyProblem(error: unknown, limit: number): unknown {
  const type = typeof error === 'object' && error !== null && 'type' in error ? error.type : undefined;
  if (type === 'entity.too.large') return tooLarge(limit);
  if (type === 'encoding.unsupported') return UnsupportedMediaType('This Content-Encoding is not supported.');
  return MalformedJson('The body could not be read.');
}

function tooLarge(limit: number) {
  return PayloadTooLarge(`The body is larger than ${limit} bytes.`, { extra: { limit_bytes: limit } });
}

function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    throw MalformedJson();
  }
}
