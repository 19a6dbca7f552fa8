/** Generates types with openapi-typescript. Files are `Blob`, as its documentation recommends for `format: binary`. */
import { mkdir, writeFile } from 'node:fs/promises';
import { pathToFileURL } from 'node:url';
import openapiTS, { astToString } from 'openapi-typescript';
import ts from 'typescript';

const blob = ts.factory.createTypeReferenceNode(ts.factory.createIdentifier('Blob'));
const nodes = await openapiTS(pathToFileURL(process.argv[2]), {
  transform: ({ format }) => (format === 'binary' ? blob : undefined),
});
await mkdir('generated');
await writeFile('generated/schema.ts', astToString(nodes));
