/** Body types of operations: JSON by default, other media types, forms and multipart by declaration. */
import type { Readable } from 'node:stream';
import { z } from 'zod';

/** A response without a body (204). */
export const nothing = z.void();

/** Serialized JSON, sent unchanged. A handler can insert stored rich text without parsing it. */
export class Json {
  readonly text: string | Uint8Array;

  constructor(text: string | Uint8Array) {
    this.text = text;
  }
}

/** Marks text as the JSON of a response. It is not validated. */
export function json(text: string | Uint8Array): Json {
  return new Json(text);
}

/** A response in media types other than JSON, with a description of each type for the API reference. */
export interface Media {
  readonly media: Readonly<Record<string, { description: string; schema?: z.ZodType }>>;
}

/** Declares a response in one or several media types. The handler returns it with `body`. */
export function media(types: Media['media']): Media {
  return { media: types };
}

/** Content of a media type: bytes, text or a stream. */
export class Body {
  readonly type: string;
  readonly content: Uint8Array | string | Readable;

  constructor(type: string, content: Uint8Array | string | Readable) {
    this.type = type;
    this.content = content;
  }
}

/** Creates the response of an operation that returns `media`. */
export function body(type: string, content: Body['content']): Body {
  return new Body(type, content);
}

/** A multipart/form-data body: text fields with a schema, and one file. */
export interface Multipart<Fields extends z.ZodType = z.ZodType> {
  readonly fields: Fields;
  /** Name of the part that contains the file. */
  readonly file: string;
  /** Maximum size of the file in bytes. A larger file is rejected with 413. */
  readonly maxFileBytes: number;
}

/** Declares a multipart body. The handler receives the parsed fields and the bytes of the file. */
export function multipart<Fields extends z.ZodType>(options: Multipart<Fields>): Multipart<Fields> {
  return options;
}

/** A body of the type `application/x-www-form-urlencoded`, which browsers send for a form without a script. */
export interface FormBody<Fields extends z.ZodType = z.ZodType> {
  /** The schema of the fields, which are texts. */
  readonly form: Fields;
}

/** Declares the body of a form. The handler receives the parsed fields. */
export function form<Fields extends z.ZodType>(fields: Fields): FormBody<Fields> {
  return { form: fields };
}
