/** The introduction and the order of the API reference. `npm run generate` writes the reference itself. */
import { readFileSync } from 'node:fs';
import type { ApiInfo } from '#libs/contract';
import { about } from './about.ts';
import { operationGroups } from './operation-groups.ts';

/**
 * General information about the API, as the OpenAPI document shows it. `tests/examples` records the examples and checks
 * that they are still true.
 */
export const apiReference: ApiInfo = {
  ...about,
  description: `${about.description}\n\n${readFileSync(new URL('api-reference.md', import.meta.url), 'utf8')}`,
  contact: { name: 'The operator of this instance' },
  license: { name: 'Apache 2.0', identifier: 'Apache-2.0' },
  servers: [
    { url: '/', description: 'The instance that serves this reference' },
    { url: 'http://127.0.0.1:8080', description: 'A local run (`npm start`)' },
  ],
  groups: operationGroups,
  examples: JSON.parse(readFileSync(new URL('../docs/contracts/examples.json', import.meta.url), 'utf8')),
};
