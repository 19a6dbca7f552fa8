/**
 * Idempotency keys: a response is stored in the transaction of its effect, and replayed if the request is
 * repeated.
 */
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import type mongoose from 'mongoose';
import { z } from 'zod';
import { IdempotencyKeyInFlight, IdempotencyKeyReused, PayloadTooLarge, Problem } from '#libs/contract';
import { collection } from './collection.ts';
import { isDuplicate, isWriteConflict } from './error-codes.ts';
import type { Keyring } from './keyring.ts';
import type { SealedField } from './sealed-field.ts';
import { sharedRead } from './shared-reads.ts';

/** A response as it is stored. */
export interface StoredResponse {
  status: number;
  headers: Record<string, string>;
  /** Empty if the response was long: a handler renders it again from `replayKey`. */
  body: string | Uint8Array;
  /** The ids from which a handler renders the response again. */
  replayKey?: Readonly<Record<string, string>>;
}

/** The maximum length of a stored body if the response can be rendered again, bytes. */
const maxStoredBytes = 1024 * 1024;

/** A stored response in MongoDB. */
const row = z.object({
  /** Hash of the key and its scope. */
  _id: z.string(),
  /** Hash of the body. */
  fingerprint: z.string(),
  created_at: z.date(),
  status: z.number(),
  headers: z.record(z.string(), z.string()).exactOptional(),
  /**
   * The sealed body: it may contain secrets that are stored as plain text nowhere else, e.g. a share token.
   */
  body: z.string().exactOptional(),
  /** Whether the body was compressed before sealing; its sealed text is then base64. */
  gzipped: z.boolean().exactOptional(),
  /** The ids from which the response is rendered again, instead of a long body. */
  replay_key: z.record(z.string(), z.string()).exactOptional(),
});
export type IdempotencyRow = z.infer<typeof row>;

const sealedBody: SealedField<Pick<IdempotencyRow, '_id'>> = {
  path: 'body',
  context: ({ _id }) => `idempotency/${_id}`,
};

/** Declares the stored responses of a service, which are kept for 24 hours. */
export function idempotencyCollection(service: string) {
  return collection(`${service.replaceAll('-', '_')}_idempotency`, {
    row,
    indexes: [{ on: { created_at: 1 }, options: { expireAfterSeconds: 86_400 } }],
    sealed: [sealedBody],
  });
}

/** Identifies a repeated request. */
export interface IdempotencyClaim {
  /** Hash of the key and its scope. */
  key: string;
  /** Hash of the request's body. */
  fingerprint: string;
}

/** A request with an Idempotency-Key whose response is not stored yet. */
export interface IdempotentRequest {
  readonly claim: IdempotencyClaim;
  /** Maps a handler's reply to the stored response, without secrets that are shown once. */
  toResponse(reply: unknown): StoredResponse;
  /** The reply that was stored last; `unsaved` before. */
  savedReply: unknown;
}

/** The value of `savedReply` until a reply is stored. */
const unsaved = Symbol('unsaved');

/** Creates the functions that find, run and store requests by Idempotency-Key. */
export function idempotentRequests(options: {
  /** The driver's collection instead of a mongoose model, to keep requests with a key cheap. */
  rows: mongoose.mongo.Collection<IdempotencyRow>;
  keyring: Keyring;
  now: () => Date;
}) {
  const { rows, keyring, now } = options;
  const findRow = sharedRead({
    toId: (key: string) => key,
    async read(keys) {
      const found = await rows.find({ _id: { $in: [...keys] } }).toArray();
      return new Map(found.map((row) => [row._id, row]));
    },
  });

  return {
    /**
     * Returns the response stored for the claim, or else the reply of `work`, which must store it in its
     * transaction. Errors: `IdempotencyKeyInFlight` for a concurrent request with the same key,
     * `IdempotencyKeyReused` for another body under the same key.
     */
    async run<R>(
      { claim, toResponse }: Pick<IdempotentRequest, 'claim' | 'toResponse'>,
      work: (request: IdempotentRequest) => Promise<R>,
    ): Promise<{ stored: StoredResponse } | { reply: R }> {
      const stored = await findResponse(claim);
      if (stored) return { stored };
      const request: IdempotentRequest = { claim, toResponse, savedReply: unsaved };
      const reply = await work(request).catch(async (error: unknown) => {
        // a concurrent request with this key may have caused the problem
        if (error instanceof Problem && (await findResponse(claim))) throw IdempotencyKeyInFlight();
        throw error;
      });
      if (request.savedReply !== reply) throw new Error('The reply was not stored for its Idempotency-Key');
      return { reply };
    },

    /**
     * Stores a response in the transaction of its effect. Errors: `IdempotencyKeyInFlight`,
     * `PayloadTooLarge`.
     */
    async save(request: IdempotentRequest, reply: unknown, session: mongoose.ClientSession) {
      const { key, fingerprint } = request.claim;
      const { status, headers, body, replayKey } = request.toResponse(reply);
      const isLong = replayKey && Buffer.byteLength(body) > maxStoredBytes;
      const content = isLong ? { replay_key: replayKey } : await sealBody(body, key, keyring);
      const row = { _id: key, fingerprint, created_at: now(), status, headers, ...content };
      try {
        await rows.insertOne(row, { session });
      } catch (error) {
        if (isWriteConflict(error) || isDuplicate(error)) throw IdempotencyKeyInFlight();
        throw error;
      }
      request.savedReply = reply;
    },
  };

  async function findResponse({ key, fingerprint }: IdempotencyClaim): Promise<StoredResponse | undefined> {
    const row = await findRow(key);
    if (!row) return undefined;
    if (row.fingerprint !== fingerprint) throw IdempotencyKeyReused();
    const { status, headers = {}, body, gzipped, replay_key } = row;
    if (replay_key) return { status, headers, body: '', replayKey: replay_key };
    const text = keyring.open(body ?? '', sealedBody.context({ _id: key }));
    return { status, headers, body: gzipped ? await decompress(Buffer.from(text, 'base64')) : text };
  }
}

/** Shorter bodies are not compressed, bytes: compressing them costs more than it saves. */
const minGzipBytes = 16 * 1024;

async function sealBody(
  body: StoredResponse['body'],
  key: string,
  keyring: Keyring,
): Promise<Pick<IdempotencyRow, 'body' | 'gzipped'>> {
  const gzipped = Buffer.byteLength(body) >= minGzipBytes;
  const text = gzipped ? (await compress(body)).toString('base64') : Buffer.from(body).toString();
  const sealedText = keyring.seal(text, sealedBody.context({ _id: key }));
  if (sealedText.length <= maxSealedLength) return { body: sealedText, ...(gzipped && { gzipped }) };
  throw PayloadTooLarge(
    'The response is too large to be stored for an Idempotency-Key. Send this request without one.',
  );
}

// asynchronous, because compressing a large body would block the event loop
const compress = promisify<StoredResponse['body'], Buffer>(gzip);
const decompress = promisify<Buffer, Buffer>(gunzip);

/** The maximum length of a sealed body: MongoDB rows are limited to 16 MiB, including the other fields. */
const maxSealedLength = 15 * 1024 * 1024;
