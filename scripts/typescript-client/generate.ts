/**
 * Generates the contract part of the TypeScript client from docs/contracts/openapi.json: the types, and a table of the
 * operations. The files are not committed.
 */
import { createHash } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { registerHooks } from 'node:module';
import { join, resolve } from 'node:path';
import type { OpenAPI3 } from 'openapi-typescript';
import type { ApiDocument } from '../api-document.ts';
import { renderOperations, withoutErrorResponses } from './operations.ts';

const root = resolve(import.meta.dirname, '../..');
const contractFile = join(root, 'docs/contracts/openapi.json');
const folder = join(root, 'clients/typescript/src/generated');

/** Generates the files if the contract or the generator has changed since the last time. */
export async function generateClient(): Promise<void> {
  const contract = await readFile(contractFile, 'utf8');
  const own = await Promise.all(
    ['generate.ts', 'operations.ts', '../api-document.ts'].map((name) =>
      readFile(join(import.meta.dirname, name), 'utf8'),
    ),
  );
  const mark = `// Generated from openapi.json; do not edit. Inputs: ${hash([contract, ...own])}\n`;
  const written = await Promise.all(['contract.ts', 'operations.ts'].map(readGenerated));
  if (written.every((text) => text?.startsWith(mark))) return;
  const document: ApiDocument = JSON.parse(contract);
  await mkdir(folder, { recursive: true });
  await write('contract.ts', mark + (await renderTypes(document)));
  await write('operations.ts', mark + renderOperations(document));
}

/** Renders the schemas and operations as TypeScript types. */
async function renderTypes(document: ApiDocument): Promise<string> {
  // openapi-typescript needs the JavaScript API of TypeScript, which TypeScript 7 does not have
  registerHooks({
    resolve: (name, context, next) => next(name === 'typescript' ? 'typescript-5' : name, context),
  });
  const [{ default: openapiTS, astToString }, { default: ts }] = await Promise.all([
    import('openapi-typescript'),
    import('typescript-5'),
  ]);
  const fileContent = ts.factory.createTypeReferenceNode('FileContent');
  const nodes = await openapiTS(withoutErrorResponses(document) as unknown as OpenAPI3, {
    rootTypes: true,
    rootTypesNoSchemaPrefix: true,
    // the service fills in defaults, so callers may leave them out
    defaultNonNullable: false,
    transform: (schema) => (schema.format === 'binary' ? fileContent : undefined),
    inject: "import type { FileContent } from '../file-content.ts';\n",
  });
  const unused = new Set(['paths', '$defs']);
  return astToString(nodes.filter((node) => !('name' in node && unused.has(getName(node.name)))));
}

function getName(name: unknown): string {
  return typeof name === 'object' && name !== null && 'text' in name ? String(name.text) : '';
}

function readGenerated(name: string): Promise<string | undefined> {
  return readFile(join(folder, name), 'utf8').catch(() => undefined);
}

/** Replaces a file in one step, because other processes may read it or write it too. */
async function write(name: string, text: string): Promise<void> {
  const temporary = join(folder, `.${name}.${process.pid}`);
  await writeFile(temporary, text);
  await rename(temporary, join(folder, name));
}

function hash(texts: readonly string[]): string {
  return createHash('sha256').update(texts.join('\0')).digest('hex').slice(0, 16);
}

if (import.meta.main) await generateClient();
