/** Creates the draft of a new file once, although a response may be lost and a push may end at any time. */
import { randomUUID } from 'node:crypto';
import { basename, dirname } from 'node:path';
import type { Client } from '../client.ts';
import { ProblemError } from '../errors.ts';
import { type Bases, findDocumentFile, writeBases } from './document-files.ts';
import { FileError } from './exit-codes.ts';

/** The codes of problems after which a new key is needed. */
const uselessKeyCodes = ['idempotency_key_reused', 'not_found'];

/** The response to a request that creates a draft. */
export interface CreatedDraft {
  id: string;
  /** Whether it is the response to an earlier request with the same key. */
  isReplayed: boolean;
}

/** What `createOnce` needs. */
export interface Creation<Created extends CreatedDraft> {
  client: Client;
  /** The path of the file whose draft is created. */
  path: string;
  /** The bases of its folder. */
  bases: Bases;
  /** Equal for equal requests. */
  checksum: string;
  send(idempotencyKey: string): Promise<Created>;
}

/**
 * Sends a request that creates a draft, with an idempotency key that is stored beforehand. If the response is lost, the
 * next push sends the same key, and gets the response of the first request within a day. The caller removes the
 * stored key, which has the name of the file, when the file knows the id of its draft.
 */
export async function createOnce<Created extends CreatedDraft>({
  client,
  path,
  bases,
  checksum,
  send,
}: Creation<Created>): Promise<Created> {
  const [folder, name] = [dirname(path), basename(path)];
  const earlier = bases.get(name);
  if (earlier?.checksum !== checksum || earlier.idempotency_key === undefined) return sendWithNewKey();
  const created = await send(earlier.idempotency_key).catch((error: unknown) => {
    // the request differs after all, or its response was too large to store and its draft is deleted
    const isUseless = error instanceof ProblemError && uselessKeyCodes.includes(error.code);
    if (!isUseless) throw error;
  });
  if (!created) return sendWithNewKey();
  if (!created.isReplayed) return created;
  if (await isDeleted(client, created.id)) return sendWithNewKey();
  const other = await findDocumentFile(folder, created.id);
  if (!other) return created;
  throw new FileError(
    `An earlier push created the draft ${created.id} from this file, and ${basename(other)} has it now. Delete one of the two.`,
  );

  async function sendWithNewKey(): Promise<Created> {
    const idempotency_key = randomUUID();
    await writeBases(folder, bases.set(name, { etag: '', checksum, idempotency_key }));
    return send(idempotency_key);
  }
}

async function isDeleted(client: Client, doc_id: string): Promise<boolean> {
  try {
    await client.getDocument({ doc_id });
    return false;
  } catch (error) {
    if (error instanceof ProblemError && error.status === 404) return true;
    throw error;
  }
}
