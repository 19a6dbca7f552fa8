/** What the handlers of the floor are given and what they give back. */
import type mongoose from 'mongoose';

type Mongo = typeof mongoose.mongo;
/** A database as the driver gives it. */
export type Db = InstanceType<Mongo['Db']>;
/** The driver's client. */
export type Client = InstanceType<Mongo['MongoClient']>;
type Session = ReturnType<Client['startSession']>;

/** Rows as they come: the floor checks nothing. */
// biome-ignore lint/suspicious/noExplicitAny: bare driver code reads rows by name and validates nothing; that is the point of a floor
export type Row = Record<string, any> & { _id: string };

/** Who asks: the row of the key's view. */
export interface Asker {
  organization_id: string;
  user_id: string;
}

/** One request to the floor. */
export interface Ask {
  /** The path behind `/api/v1`, or the whole path, in parts. */
  parts: readonly string[];
  query: URLSearchParams;
  // biome-ignore lint/suspicious/noExplicitAny: parsed and not validated; that is the point of a floor
  body: any;
  asker: Asker;
}

/** One answer; `text` is JSON. */
export interface Told {
  status: number;
  text: string | Uint8Array;
  headers?: Record<string, string>;
}

/** One thing that the floor can do. */
export type Handler = (ask: Ask) => Promise<Told>;

/** Runs work in a transaction as the services do: snapshot, majority. */
export async function transacted<R>(client: Client, work: (session: Session) => Promise<R>): Promise<R> {
  const session = client.startSession();
  try {
    return await session.withTransaction(() => work(session), {
      readConcern: { level: 'snapshot' },
      writeConcern: { w: 'majority' },
    });
  } finally {
    await session.endSession();
  }
}
