/** Publishes drafts that a push has saved. */
import type { Client } from '../client.ts';
import { formatError } from './exit-codes.ts';

/** A draft is saved, but publishing it has failed. The cause says why. */
export class PublishError extends Error {
  /** The id of the draft. */
  readonly id: string;
  constructor(id: string, cause: unknown) {
    super(`The draft is saved, but not published. Push with --publish again.\n${formatError(cause)}`, {
      cause,
    });
    this.id = id;
  }
}

/** Publishes a draft. Returns its ETag. Rejects with a `PublishError`. */
export async function publishDraft(
  client: Client,
  id: string,
  etag: string | undefined,
): Promise<string | undefined> {
  try {
    return (await client.withResponse.publishDocument({ doc_id: id }, { ifMatch: etag })).etag;
  } catch (error) {
    throw new PublishError(id, error);
  }
}
