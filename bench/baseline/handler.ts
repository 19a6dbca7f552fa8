/** Types of the baseline's handlers, and a transaction helper. */
import type mongoose from 'mongoose';

type Mongo = typeof mongoose.mongo;
/** The driver's database. */
export type Db = InstanceType<Mongo['Db']>;
/** The driver's client. */
export type Client = InstanceType<Mongo['MongoClient']>;
type Session = ReturnType<Client['startSession']>;

/** A row as stored. The baseline does not validate it. */
// biome-ignore lint/suspicious/noExplicitAny: the baseline reads fields by name and does not validate
export type Row = Record<string, any> & { _id: string };

/** The authenticated caller. */
export interface Principal {
  organization_id: string;
  user_id: string;
}

/** A request to the baseline. */
export interface BaselineRequest {
  /** Segments of the path after `/api/v1`, or of the whole path without that prefix. */
  parts: readonly string[];
  query: URLSearchParams;
  // biome-ignore lint/suspicious/noExplicitAny: the baseline parses the body and does not validate it
  body: any;
  principal: Principal;
}

/** A response; `text` is JSON. */
export interface BaselineResponse {
  status: number;
  text: string | Uint8Array;
  headers?: Record<string, string>;
}

/** Handles one kind of request. */
export type Handler = (request: BaselineRequest) => Promise<BaselineResponse>;

/** Runs `work` in a transaction with the same guarantees as the services: reads and writes with majority. */
export async function withTransaction<R>(client: Client, work: (session: Session) => Promise<R>): Promise<R> {
  const session = client.startSession();
  try {
    return await session.withTransaction(() => work(session), {
      readConcern: { level: 'majority' },
      writeConcern: { w: 'majority' },
    });
  } finally {
    await session.endSession();
  }
}
