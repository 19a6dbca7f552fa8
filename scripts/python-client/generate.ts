/** Generates the contract part of the Python client from docs/contracts/openapi.json. The files are not committed. */
import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import type { PythonTools } from '../../tools/python-client/install.ts';
import type { ApiDocument } from '../api-document.ts';
import { renderContract } from './contract.ts';
import { renderMethods } from './methods.ts';

const contractFile = resolve(import.meta.dirname, '../../docs/contracts/openapi.json');
const mark = '# Generated from openapi.json; do not edit.\n';

/** Writes the modules `models`, `_contract` and `_methods` into the folder of the package. */
export async function generatePythonClient(
  packageFolder: string,
  { environment }: Pick<PythonTools, 'environment'>,
): Promise<void> {
  const document: ApiDocument = JSON.parse(await readFile(contractFile, 'utf8'));
  await writeFile(join(packageFolder, '_contract.py'), mark + renderContract(document));
  await writeFile(join(packageFolder, '_methods.py'), mark + renderMethods(document));
  const files = listFileFields(document).map((field) => [
    field,
    'process_document_service._requests.FileContent',
  ]);
  const flags = [
    ...['--input', contractFile, '--input-file-type', 'openapi', '--openapi-scopes', 'schemas'],
    ...['--output', join(packageFolder, 'models.py'), '--output-model-type', 'typing.TypedDict'],
    ...['--target-python-version', '3.10', '--use-standard-collections', '--use-union-operator'],
    // later versions of the service may send further values and fields, so nothing is an enum or closed
    ...['--enum-field-as-literal', 'all', '--no-use-closed-typed-dict'],
    ...['--use-schema-description', '--use-field-description', '--naming-strategy', 'parent-prefixed'],
    ...['--type-overrides', JSON.stringify(Object.fromEntries(files))],
    ...[
      '--formatters',
      'builtin',
      '--custom-file-header',
      `${mark}"""The data of requests and responses."""`,
    ],
  ];
  const env = { ...process.env, ...environment };
  await promisify(execFile)('python3', ['-m', 'datamodel_code_generator', ...flags], { env }).catch(
    (error) => {
      throw new Error(`datamodel-code-generator failed:\n${error.stderr}`, { cause: error });
    },
  );
}

/** The fields that contain files, as `Schema.field`. */
function listFileFields({ components }: ApiDocument): string[] {
  return Object.entries(components?.schemas ?? {}).flatMap(([schema, { properties = {} }]) =>
    Object.entries(properties).flatMap(([name, { format }]) =>
      format === 'binary' ? [`${schema}.${name}`] : [],
    ),
  );
}
