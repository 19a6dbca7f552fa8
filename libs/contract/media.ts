/** What travels in bodies: JSON by default; other kinds are said explicitly. */
import type { Readable } from 'node:stream';
import { z } from 'zod';

/** An answer without a body (204). */
export const nothing = z.void();

/** JSON that is already text: sent as it is, so that stored rich text is spliced in without being parsed. */
export class Json {
  readonly text: string | Uint8Array;

  constructor(text: string | Uint8Array) {
    this.text = text;
  }
}

/** Marks text as the JSON of an answer; the caller vouches for its shape. */
export function json(text: string | Uint8Array): Json {
  return new Json(text);
}

/** An answer in other media types than JSON: type → what it is, for the reference. */
export interface Media {
  readonly media: Readonly<Record<string, { description: string; schema?: z.ZodType }>>;
}

/** Declares an answer of one or several media types; its handler returns bytes with `body`. */
export function media(types: Media['media']): Media {
  return { media: types };
}

/** Bytes of a given media type, whole or streamed. */
export class Body {
  readonly type: string;
  readonly content: Uint8Array | string | Readable;

  constructor(type: string, content: Uint8Array | string | Readable) {
    this.type = type;
    this.content = content;
  }
}

/** The answer of an operation that returns `media`. */
export function body(type: string, content: Body['content']): Body {
  return new Body(type, content);
}

/** A multipart/form-data body: text fields by a schema, and one file. */
export interface Multipart<Fields extends z.ZodType = z.ZodType> {
  readonly fields: Fields;
  /** Name of the part that carries the file. */
  readonly file: string;
  /** Largest file, bytes; over it 413. */
  readonly maxFileBytes: number;
}

/** Declares a multipart body; its handler gets the parsed fields and the file's bytes. */
export function multipart<Fields extends z.ZodType>(options: Multipart<Fields>): Multipart<Fields> {
  return options;
}
