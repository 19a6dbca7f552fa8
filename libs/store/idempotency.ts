/** Idempotency keys: the first answer, or what a long one is made from, is kept in the transaction of its effect and given again. */
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import type mongoose from 'mongoose';
import { IdempotencyKeyInFlight, IdempotencyKeyReused, PayloadTooLarge } from '#libs/contract';
import { collection } from './collection.ts';
import type { SealedField } from './sealed.ts';
import type { KeyRing } from './sealing.ts';
import { isDuplicate, isWriteConflict, type Transaction } from './transaction.ts';

/** An answer as it is kept. */
export interface Kept {
  status: number;
  headers: Record<string, string>;
  /** Empty when the answer was long and `again` says what it takes to make it again. */
  body: string | Uint8Array;
  again?: Readonly<Record<string, string>>;
}

/** The longest answer that is kept although it can be made again, bytes. */
const longestKept = 1024 * 1024;

export interface IdempotencyRow {
  /** Hash of everything that the key is scoped by. */
  _id: string;
  /** Hash of the body. */
  fingerprint: string;
  created_at: Date;
  status?: number;
  headers?: Record<string, string>;
  /** The answer's text, gzipped and sealed: it may hold what is nowhere else in the clear, e.g. a share token. */
  body?: string;
  /** In place of the text of a long answer: the ids from which it is made again. */
  again?: Record<string, string>;
}

const keptBody: SealedField<Pick<IdempotencyRow, '_id'>> = {
  path: 'body',
  context: ({ _id }) => `idempotency/${_id}`,
};

/** The kept answers of a service, for 24 hours. */
export function idempotencyOf(service: string) {
  return collection<IdempotencyRow>(`${service.replaceAll('-', '_')}_idempotency`, {
    fields: {
      _id: String,
      fingerprint: String,
      created_at: Date,
      status: Number,
      headers: Object,
      body: String,
      again: Object,
    },
    indexes: [{ on: { created_at: 1 }, options: { expireAfterSeconds: 86_400 } }],
    sealed: [keptBody],
  });
}

/** What a request is recognised by. */
export interface Claim {
  key: string;
  fingerprint: string;
}

/** The answer that was kept for this claim, if any; `IdempotencyKeyReused` when the body differs. */
export async function keptAnswer(
  rows: mongoose.Model<IdempotencyRow>,
  claim: Claim,
  ring: KeyRing,
): Promise<Kept | undefined> {
  const row = await rows.findOne({ _id: claim.key }).lean();
  if (!row) return undefined;
  if (row.fingerprint !== claim.fingerprint) throw IdempotencyKeyReused();
  const { status, headers = {}, body, again } = row;
  if (status === undefined) throw IdempotencyKeyInFlight();
  if (again) return { status, headers, body: '', again };
  const zipped = Buffer.from(ring.open(body ?? '', keptBody.context({ _id: claim.key })), 'base64');
  return { status, headers, body: await unzipped(zipped) };
}

/** Claims the key within a transaction; a request in flight with the same key is `IdempotencyKeyInFlight`. */
export async function claimKey(
  rows: mongoose.Model<IdempotencyRow>,
  claim: Claim,
  tx: Transaction,
  now: Date,
): Promise<void> {
  try {
    const row = { _id: claim.key, fingerprint: claim.fingerprint, created_at: now };
    await rows.insertMany([row], { session: tx.session, lean: true });
  } catch (error) {
    if (isWriteConflict(error) || isDuplicate(error)) throw IdempotencyKeyInFlight();
    throw error;
  }
}

/** Keeps the answer of a claim within the transaction of its effect. */
export async function keepAnswer(
  rows: mongoose.Model<IdempotencyRow>,
  key: string,
  kept: Kept,
  ring: KeyRing,
  tx: Transaction,
): Promise<void> {
  const { status, headers, body, again } = kept;
  const isLong = again && Buffer.byteLength(body) > longestKept;
  const answer = isLong ? { again } : { body: await sealed(body, key, ring) };
  await rows.updateOne({ _id: key }, { status, headers, ...answer }, { session: tx.session });
}

async function sealed(body: Kept['body'], key: string, ring: KeyRing): Promise<string> {
  const text = ring.seal((await zipped(body)).toString('base64'), keptBody.context({ _id: key }));
  if (text.length <= maxSealedLength) return text;
  throw PayloadTooLarge(
    'The answer is too large to be kept for an Idempotency-Key: send this request without one.',
  );
}

// not on the event loop: others wait there
const zipped = promisify<Kept['body'], Buffer>(gzip);
const unzipped = promisify<Buffer, Buffer>(gunzip);

/** A row is at most 16 MiB; this leaves room for all that is not the answer. */
const maxSealedLength = 15 * 1024 * 1024;
