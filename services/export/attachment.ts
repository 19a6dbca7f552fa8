/** Attachments: answers that a browser saves as a file named after the document. */
import { create } from 'content-disposition';
import { body } from '#libs/contract';
import { answer } from '#libs/http';
import { fileName } from './formats/file-name.ts';

/** An answer that is saved as `<title>.<extension>` (RFC 6266). */
export function attachment(
  type: string,
  bytes: Uint8Array | string,
  title: string,
  extension: 'docx' | 'md',
) {
  const headers = { 'Content-Disposition': create(fileName(title, extension)) };
  return answer(body(type, bytes), { headers });
}
