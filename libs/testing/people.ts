/** Users in tests; each is the first admin of a new organization. */
import { randomBytes } from 'node:crypto';
import type { TestApp } from './test-app.ts';

/** A registered user with an access token (`token`) and an API key (`key`). */
export interface Person {
  token: string;
  key: string;
  userId: string;
  organizationId: string;
  slug: string;
  email: string;
  password: string;
}

/** Registers a new organization with its admin, and creates an API key with the role `admin`. */
export async function register(app: Pick<TestApp, 'request'>): Promise<Person> {
  const unique = randomBytes(6).toString('hex');
  const email = `ada-${unique}@example.com`;
  const password = `correct horse ${unique}`;
  const body = { organization_name: `Organization ${unique}`, name: 'Ada Example', email, password };
  const session = (await app.request('POST', '/auth/register', { body })).body;
  const key = await app.request('POST', '/api-keys', {
    as: session.access_token,
    body: { name: 'Test', role: 'admin' },
  });
  return {
    token: session.access_token,
    key: key.body.key,
    userId: session.member.id,
    organizationId: session.organization.id,
    slug: session.organization.slug,
    email,
    password,
  };
}
