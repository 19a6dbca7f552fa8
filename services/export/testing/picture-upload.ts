/** Uploads the pictures of tests/fixtures as assets. */
import { readFile } from 'node:fs/promises';
import { type HttpClient, must } from '#libs/testing';

const folder = new URL('../../../tests/fixtures/pictures/', import.meta.url);

/** Uploads a picture by its file name, such as `plain.jpg`, and returns the asset. */
export async function uploadPicture(
  client: HttpClient,
  as: string,
  name: string,
): Promise<{ id: string; src: string }> {
  const body = new FormData();
  body.append('file', new Blob([new Uint8Array(await readFile(new URL(name, folder)))]), name);
  return must(client, 'POST', '/assets', { as, body, status: 201 });
}
