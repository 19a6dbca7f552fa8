/** Tests that Deno converts files to the same documents. */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';
import { denoBinary } from '../../scripts/deno-binary.ts';
import { convertFile } from '../../services/documents/imports/conversion.ts';

const conversion = new URL('../../services/documents/imports/conversion.ts', import.meta.url).href;
const program = (path: string, name: string) => `
  import { convertFile } from ${JSON.stringify(conversion)};
  const bytes = await Deno.readFile(${JSON.stringify(path)});
  const result = await convertFile({ name: ${JSON.stringify(name)}, bytes, acceptChanges: false });
  console.log(JSON.stringify(result.ok && { documents: result.file.documents, report: result.file.report }));
`;

test.each(['wartung.docx', 'shop.md', 'page.html'])('Deno converts %s as Node does', async (name) => {
  const path = fileURLToPath(new URL(`../fixtures/imports/${name}`, import.meta.url));
  const bytes = new Uint8Array(await readFile(path));
  const result = await convertFile({ name, bytes, acceptChanges: false });
  const root = fileURLToPath(new URL('../../', import.meta.url));
  const args = ['eval', '--no-check', program(path, name)];
  const { stdout } = await promisify(execFile)(await denoBinary(), args, { cwd: root });
  expect(JSON.parse(stdout)).toEqual(
    result.ok && { documents: result.file.documents, report: result.file.report },
  );
});
