/** Builds organizations and what they own through the API. All functions reject if a request fails. */
import { randomBytes } from 'node:crypto';
import { type AnyJson, type HttpClient, httpClient, must } from './http-client.ts';
import { opsToken, type TestApp } from './test-app.ts';

/** A member of an organization, with an access token (`token`). */
export interface Member {
  token: string;
  userId: string;
  email: string;
  password: string;
}

/** The admin who registered an organization, also with an API key (`key`). */
export interface Person extends Member {
  key: string;
  organizationId: string;
  slug: string;
}

/** Registers a new organization with its admin, and creates an API key with the role `admin`. */
export async function register(client: HttpClient): Promise<Person> {
  const { unique, ...login } = createLogin('ada');
  const body = { organization_name: `Organization ${unique}`, name: 'Ada Example', ...login };
  const session = await must(client, 'POST', '/auth/register', { body, status: 201 });
  const token: string = session.access_token;
  const { key } = await must(client, 'POST', '/api-keys', {
    as: token,
    body: { name: 'Test', role: 'admin' },
    status: 201,
  });
  const { id: organizationId, slug } = session.organization;
  return { token, key, userId: session.member.id, organizationId, slug, ...login };
}

/** Invites a person and accepts the invitation. A person with an account joins with their email and password. */
export async function addMember(
  client: HttpClient,
  admin: string,
  { role, ...known }: Partial<Pick<Member, 'email' | 'password'>> & { role?: 'member' | 'admin' } = {},
): Promise<Member> {
  const { unique: _, ...generated } = createLogin('guest');
  const { email, password } = { ...generated, ...known };
  const invited = { as: admin, body: { email, ...(role && { role }) }, status: 201 };
  const { token } = await must(client, 'POST', '/members/invitations', invited);
  const body = { token, name: 'Guest', password };
  const session = await must(client, 'POST', '/members/invitations/accept', { body });
  return { token: session.access_token, userId: session.member.id, email, password };
}

/** Creates a document and returns it. */
export function createDocument(
  client: HttpClient,
  as: string,
  body: unknown = { title: 'SOP' },
): Promise<AnyJson> {
  return must(client, 'POST', '/documents', { as, body, status: 201 });
}

/** Creates and publishes a document, and returns it. */
export async function publishDocument(client: HttpClient, as: string, body?: unknown): Promise<AnyJson> {
  const { id } = await createDocument(client, as, body);
  return must(client, 'POST', `/documents/${id}/publish`, { as, status: 200 });
}

/** A published document and its public link. */
export interface SharedDocument {
  id: string;
  token: string;
  slug: string;
  /** The path of the link. */
  path: string;
}

/** Creates, publishes and shares a document. */
export async function shareDocument(client: HttpClient, as: string, body?: unknown): Promise<SharedDocument> {
  const { id } = await publishDocument(client, as, body);
  const link = await must(client, 'POST', `/documents/${id}/share-token`, { as, status: 201 });
  const { token, org_slug: slug } = link;
  return { id, token, slug, path: `/embed/${slug}/${token}` };
}

/** A webhook as its creation returns it. */
export interface CreatedWebhook {
  id: string;
  organization_id: string;
  secret: string;
  url: string;
  event_types: string[];
}

/** Creates a webhook and returns it with its secret. */
export function createWebhook(
  client: HttpClient,
  as: string,
  url: string,
  event_types: readonly string[] = ['document.published'],
): Promise<CreatedWebhook> {
  return must(client, 'POST', '/webhooks', { as, body: { name: 'Hook', url, event_types }, status: 201 });
}

/** Sets the plan of an organization as the operator. */
export async function setPlan(
  { management }: Pick<TestApp, 'management'>,
  organizationId: string,
  plan: string,
): Promise<void> {
  const path = `/ops/organizations/${organizationId}/subscription`;
  await must(httpClient(management), 'PUT', path, { as: opsToken, body: { plan }, status: 200 });
}

/** Creates a unique email address and a strong password. */
function createLogin(name: string) {
  const unique = randomBytes(6).toString('hex');
  // without digits, which the check of passwords tries as letters of common words: that takes 13 ms
  const letters = unique.replaceAll(/\d/g, (digit) => 'ghijklmnop'[Number(digit)] ?? '');
  return { unique, email: `${name}-${unique}@example.com`, password: `correct horse ${letters}` };
}
