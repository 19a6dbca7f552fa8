/** Creates the draft of a new file once, although a response may be lost and a push may end at any time. */
import { randomUUID } from 'node:crypto';
import { basename, dirname } from 'node:path';
import { ProblemError } from '../errors.ts';
import { type Bases, writeBases } from './document-files.ts';

/** What `createOnce` needs. */
export interface Creation<T> {
  /** The path of the file whose draft is created. */
  path: string;
  /** The bases of its folder. */
  bases: Bases;
  /** Equal if the same request is sent. */
  checksum: string;
  send(idempotencyKey: string): Promise<T>;
}

/**
 * Sends a request that creates a draft, with an idempotency key that is stored beforehand. If the response is lost, the
 * next push sends the same key, and gets the response of the first request within a day. The caller removes the
 * stored key, which has the name of the file, when the file knows the id of its draft.
 */
export async function createOnce<T>({ path, bases, checksum, send }: Creation<T>): Promise<T> {
  const [folder, name] = [dirname(path), basename(path)];
  const earlier = bases.get(name);
  const known = earlier?.checksum === checksum ? earlier.idempotency_key : undefined;
  const idempotency_key = known ?? randomUUID();
  await writeBases(folder, bases.set(name, { etag: '', checksum, idempotency_key }));
  try {
    return await send(idempotency_key);
  } catch (error) {
    if (!(error instanceof ProblemError && error.status < 500)) throw error;
    // nothing was created
    bases.delete(name);
    await writeBases(folder, bases);
    throw error;
  }
}
