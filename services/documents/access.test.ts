/** Tests who may edit a document. */
import { expect, test } from '@jest/globals';
import { ownerEditorOrAdmin } from './access.ts';

const document = { created_by: 'owner', editor_id: 'editor' };
const caller = { organization_id: 'acme', key_id: null, plan: async () => 'trial' };

test.each([
  ['owner', 'member', true],
  ['editor', 'member', true],
  ['someone', 'member', false],
  ['someone', 'admin', true],
] as const)('%s (%s) may edit: %s', (user_id, role, expected) => {
  expect(ownerEditorOrAdmin.resource?.allows({ ...caller, user_id, role }, document)).toBe(expected);
});
