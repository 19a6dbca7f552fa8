/** Idempotency keys: a request's response is stored in the transaction of its effect, and replayed when the request is repeated. */
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import type mongoose from 'mongoose';
import { IdempotencyKeyInFlight, IdempotencyKeyReused, PayloadTooLarge, Problem } from '#libs/contract';
import { collection } from './collection.ts';
import type { Keyring } from './keyring.ts';
import type { SealedField } from './sealed-field.ts';
import { isDuplicate, isWriteConflict, type Transaction } from './transaction.ts';

/** A response as it is stored. */
export interface StoredResponse {
  status: number;
  headers: Record<string, string>;
  /** Empty when the response was long and `replayKey` names what to render it from. */
  body: string | Uint8Array;
  /** The ids from which a handler renders the response again. */
  replayKey?: Readonly<Record<string, string>>;
}

/** The longest body that is stored although the response can be rendered again, bytes. */
const maxStoredBytes = 1024 * 1024;

export interface IdempotencyRow {
  /** Hash of everything that the key is scoped by. */
  _id: string;
  /** Hash of the body. */
  fingerprint: string;
  created_at: Date;
  status: number;
  headers?: Record<string, string>;
  /** The body, sealed: it may hold what is stored in clear text nowhere else, e.g. a share token. */
  body?: string;
  /** Whether the body was compressed before it was sealed; what is sealed is its base64 text then. */
  gzipped?: boolean;
  /** In place of a long body: the ids from which the response is rendered again. */
  replay_key?: Record<string, string>;
}

const sealedBody: SealedField<Pick<IdempotencyRow, '_id'>> = {
  path: 'body',
  context: ({ _id }) => `idempotency/${_id}`,
};

/** The stored responses of a service, for 24 hours. */
export function idempotencyCollection(service: string) {
  return collection<IdempotencyRow>(`${service.replaceAll('-', '_')}_idempotency`, {
    fields: {
      _id: String,
      fingerprint: String,
      created_at: Date,
      status: Number,
      headers: Object,
      body: String,
      gzipped: Boolean,
      replay_key: Object,
    },
    indexes: [{ on: { created_at: 1 }, options: { expireAfterSeconds: 86_400 } }],
    sealed: [sealedBody],
  });
}

/** What identifies a repeated request. */
export interface IdempotencyClaim {
  /** Hash of the key and its scope. */
  key: string;
  /** Hash of the request's body. */
  fingerprint: string;
}

/** A request with an Idempotency-Key whose response is not stored yet. */
export interface IdempotentRequest {
  readonly claim: IdempotencyClaim;
  /** Renders a handler's reply as it is stored: without secrets that are shown once. */
  toResponse(reply: unknown): StoredResponse;
  /** The reply whose response was stored last; `unsaved` until then. */
  savedReply: unknown;
}

/** The place of a reply that has not been stored. */
const unsaved = Symbol('unsaved');

/** Finds, runs and stores by Idempotency-Key. */
export function idempotentRequests(options: {
  /** The driver's own collection: a keyed request should cost little more than one without a key. */
  rows: mongoose.mongo.Collection<IdempotencyRow>;
  ring: Keyring;
  now: () => Date;
}) {
  const { rows, ring, now } = options;

  return {
    /**
     * Gives the response that is stored for the claim, or else the reply of `work`. `work` must store its reply in its
     * own transaction. A concurrent request with the same key is `IdempotencyKeyInFlight`; another body under the same
     * key is `IdempotencyKeyReused`.
     */
    async run<R>(
      { claim, toResponse }: Pick<IdempotentRequest, 'claim' | 'toResponse'>,
      work: (request: IdempotentRequest) => Promise<R>,
    ): Promise<{ stored: StoredResponse } | { reply: R }> {
      const stored = await findResponse(claim);
      if (stored) return { stored };
      const request: IdempotentRequest = { claim, toResponse, savedReply: unsaved };
      const reply = await work(request).catch(async (error: unknown) => {
        // another request with this key may have changed what this one was checked against
        if (error instanceof Problem && (await findResponse(claim))) throw IdempotencyKeyInFlight();
        throw error;
      });
      if (request.savedReply !== reply) throw new Error('The reply was not stored for its Idempotency-Key');
      return { reply };
    },

    /** Stores the response to a request in the transaction of its effect; `IdempotencyKeyInFlight`, `PayloadTooLarge`. */
    async save(request: IdempotentRequest, reply: unknown, { session }: Pick<Transaction, 'session'>) {
      const { key, fingerprint } = request.claim;
      const { status, headers, body, replayKey } = request.toResponse(reply);
      const isLong = replayKey && Buffer.byteLength(body) > maxStoredBytes;
      const content = isLong ? { replay_key: replayKey } : await sealBody(body, key, ring);
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
    const row = await rows.findOne({ _id: key });
    if (!row) return undefined;
    if (row.fingerprint !== fingerprint) throw IdempotencyKeyReused();
    const { status, headers = {}, body, gzipped, replay_key } = row;
    if (replay_key) return { status, headers, body: '', replayKey: replay_key };
    const text = ring.open(body ?? '', sealedBody.context({ _id: key }));
    return { status, headers, body: gzipped ? await decompress(Buffer.from(text, 'base64')) : text };
  }
}

/** A body shorter than this, in bytes, is stored as it is: compressing it costs more than it saves. */
const minGzipBytes = 16 * 1024;

async function sealBody(
  body: StoredResponse['body'],
  key: string,
  ring: Keyring,
): Promise<Pick<IdempotencyRow, 'body' | 'gzipped'>> {
  const gzipped = Buffer.byteLength(body) >= minGzipBytes;
  const text = gzipped ? (await compress(body)).toString('base64') : Buffer.from(body).toString();
  const sealedText = ring.seal(text, sealedBody.context({ _id: key }));
  if (sealedText.length <= maxSealedLength) return { body: sealedText, ...(gzipped && { gzipped }) };
  throw PayloadTooLarge(
    'The response is too large to be stored for an Idempotency-Key: send this request without one.',
  );
}

// asynchronous, because a large body would block the event loop
const compress = promisify<StoredResponse['body'], Buffer>(gzip);
const decompress = promisify<Buffer, Buffer>(gunzip);

/** A row is at most 16 MiB; this leaves room for everything beside the body. */
const maxSealedLength = 15 * 1024 * 1024;
