/** Runs every command block of README.md and docs/ in a fresh copy of the project. */
import { globSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { findTestProgram } from '#libs/testing';
import { contracts } from '../../services/contracts.ts';
import { findCommandBlocks } from '../docs-commands/blocks.ts';
import { openReader, type Reader } from '../docs-commands/reader.ts';

const root = new URL('../../', import.meta.url).pathname;
const services = contracts.map(({ name }) => name);
/**
 * Pages that use the instance of README.md; docs/cli.md installs pds for the others. The pages in `last` use the five
 * processes of docs/deployment.md.
 */
const first = ['README.md', 'docs/embedding.md', 'docs/webhooks.md', 'docs/cli.md'];
const last = ['docs/deployment.md', 'docs/deno.md', 'docs/security.md'];
const others = globSync('docs/**/*.md', { cwd: root })
  .filter((page) => ![...first, ...last].includes(page))
  .filter((page) => findCommandBlocks(page, readFileSync(root + page, 'utf8')).some(({ skip }) => !skip));

let reader: Reader;
beforeAll(async () => {
  reader = await openReader();
});
afterAll(() => reader?.close());

test.each([...first, ...others.sort()])(
  'the commands of %s work',
  async (page) => {
    if (page === 'docs/import.md' && !(await findTestProgram('jq', { from: 'jq', purpose: page }))) return;
    const followed = await reader.follow(page);
    if (page === 'README.md') expect(followed.length).toBe(2);
  },
  600_000,
);

test('the five processes of docs/deployment.md end in a green demo', async () => {
  await reader.stop();
  const followed = await reader.follow('docs/deployment.md');
  const demo = followed.find(({ block }) => block.text.trim() === 'npm run demo');
  expect(demo?.printed).toContain('All steps done');
}, 600_000);

test('the commands of docs/deno.md work', async () => {
  expect((await reader.follow('docs/deno.md')).length).toBe(2);
}, 600_000);

test('the commands of docs/security.md work', async () => {
  // the key is replaced while no service encrypts with the old one
  await reader.stop([...services, 'gateway']);
  expect((await reader.follow('docs/security.md')).length).toBe(1);
}, 600_000);
