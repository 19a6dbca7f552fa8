/** Tests the demo organization of a local run against real services. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { must, type TestApp, testApp } from '#libs/testing';
import { contracts } from '../../services/contracts.ts';
import { services } from '../../services/testing/services.ts';
import type { DataFolder, Demo } from './data-folder.ts';
import { seedDemo } from './demo.ts';

let app: TestApp;
beforeAll(async () => {
  app = await testApp({ services, contracts });
});
afterAll(() => app?.stop());

function createFolder(email: string): DataFolder {
  const demo: Demo = { email, password: 'correct horse battery staple' };
  return { secrets: {} as DataFolder['secrets'], demo, saveDemo: async () => {} };
}

test('the demo gets another slug if an organization has its slug', async () => {
  const options = { base: `${app.origin}/api/v1`, appUrl: app.origin, isRegistrationOpen: true };
  const slugs = [];
  for (const email of ['one@example.com', 'two@example.com']) {
    const demo = await seedDemo(createFolder(email), options);
    const { organization } = await must(app, 'GET', '/me', { as: demo?.apiKey ?? '' });
    slugs.push(organization.slug);
    expect(demo?.link).toContain(`/embed/${organization.slug}/`);
  }
  expect(slugs).toEqual(['demo', expect.not.stringMatching(/^demo$/)]);
});
