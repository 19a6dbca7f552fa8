/** Simulates an organization whose members join, write, publish, share and export. It records every accepted change. */
import { randomBytes } from 'node:crypto';
import { type CreatedWebhook, must, type RetryingClient, type TestResponse } from '#libs/testing';

/** An accepted change of an organization, named like its event. */
export interface Change {
  type: 'document.published' | 'member.invited' | 'member.joined';
  /** Id of the document, the invitation or the member. */
  about: string;
}

/** An accepted document with everything that was added to it. */
export interface WrittenDocument {
  id: string;
  title: string;
  author: string;
  nodeIds: string[];
  shareToken: string;
}

/** An organization and the changes that the API accepted from it. */
export interface TestTenant {
  organizationId: string;
  slug: string;
  email: string;
  /** User id of its admin. */
  adminId: string;
  key: string;
  webhook: CreatedWebhook;
  changes: Change[];
  documents: WrittenDocument[];
  /** User ids of the members who joined. */
  joined: string[];
}

const password = 'a-long-evening-in-the-archive';

type Body = TestResponse['body'];

/** Registers an organization with a webhook. Each `round` adds to the changes in `tenant`. */
export async function createTenant(api: RetryingClient, hookUrl: (slug: string) => string) {
  const unique = randomBytes(6).toString('hex');
  const email = `ada-${unique}@example.com`;
  const slug = `tenant-${unique}`;
  const account = { organization_name: slug, organization_slug: slug, name: 'Ada Example', email, password };
  const session = await signIn(api, '/auth/register', account, email);
  const named = { name: 'Integration', role: 'admin' };
  const { key } = await createWithSecret(api, session.access_token, '/api-keys', named, 'key');
  const event_types = ['document.published', 'member.invited', 'member.joined'];
  const hook = { name: 'Everything', url: hookUrl(slug), event_types };
  const tenant: TestTenant = {
    organizationId: session.organization.id,
    slug,
    email,
    adminId: session.member.id,
    key,
    webhook: await createWithSecret(api, key, '/webhooks', hook, 'secret'),
    changes: [],
    documents: [],
    joined: [],
  };
  const post = (path: string, as: string, status: number, body?: object) =>
    must(api, 'POST', path, { as, body, status });

  return {
    tenant,
    /** A new member joins and writes documents, which the admin publishes and shares. */
    async round(documents: number): Promise<void> {
      const author = await join();
      for (let created = 0; created < documents; created += 1) await write(author);
      // a read inbox item must not be replaced if its event is consumed again
      for (const as of [author.token, key]) await post('/inbox/read-all', as, 204);
    },
  };

  async function join() {
    const guest = `guest-${randomBytes(6).toString('hex')}@example.com`;
    let invited: Body;
    do {
      invited = await post('/members/invitations', key, 201, { email: guest });
      tenant.changes.push({ type: 'member.invited', about: invited.id });
      // only the first response shows the token; if it was lost, the guest is invited again
    } while (invited.token === null);
    const body = { token: invited.token, name: 'Guest', password };
    const joined = await signIn(api, '/members/invitations/accept', body, guest);
    tenant.changes.push({ type: 'member.joined', about: joined.member.id });
    tenant.joined.push(joined.member.id);
    return { id: joined.member.id as string, token: joined.access_token as string };
  }

  async function write(author: { id: string; token: string }): Promise<void> {
    const title = `Closing the till ${randomBytes(6).toString('hex')}`;
    const step = { node_type: 'step', title: 'Count', content: { type: 'doc', content: [] } };
    const nodes = [{ node_type: 'section', title: 'Evening', children: [step] }];
    const draft = await post('/documents', author.token, 201, { title, nodes });
    const section = { node_type: 'section', title: 'Morning', order: 1 };
    const added = await post(`/documents/${draft.id}/nodes`, author.token, 201, section);
    await post(`/documents/${draft.id}/publish`, key, 200);
    tenant.changes.push({ type: 'document.published', about: draft.id });
    const link = await post(`/documents/${draft.id}/share-token`, key, 201);
    const nodeIds = [draft.nodes[0].id, draft.nodes[0].children[0].id, added.id];
    tenant.documents.push({ id: draft.id, title, author: author.id, nodeIds, shareToken: link.token });
    const seen = await must(api, 'GET', `/embed/${slug}/${link.token}`, { status: 200 });
    if (seen.title !== title) throw new Error(`The link of ${title} shows ${seen.title}`);
    const request = { as: key, status: 200 };
    const markdown = await must(api, 'GET', `/documents/${draft.id}/export/markdown`, request);
    const text = new TextDecoder().decode(markdown);
    if (!text.startsWith(`# ${title}\n`))
      throw new Error(`The export of ${title} begins ${text.slice(0, 60)}`);
  }
}

/** Gets a session by a request without an Idempotency-Key. If its first response was lost, logs in instead. */
async function signIn(api: RetryingClient, path: string, body: object, email: string): Promise<Body> {
  const response = await api.request('POST', path, { body });
  if (response.status < 300) return response.body;
  if (!response.isRetried) throw new Error(`${path}: ${response.status} ${JSON.stringify(response.body)}`);
  return must(api, 'POST', '/auth/login', { body: { email, password }, status: 200 });
}

/** Creates a resource whose first response alone shows its secret. If that response was lost, creates it again. */
async function createWithSecret(
  api: RetryingClient,
  as: string,
  path: string,
  body: object,
  secret: string,
): Promise<Body> {
  for (;;) {
    const created = await must(api, 'POST', path, { as, body, status: 201 });
    if (created[secret] !== null) return created;
    const gone = await api.request('DELETE', `${path}/${created.id}`, { as });
    if (gone.status !== 204 && !(gone.isRetried && gone.status === 404))
      throw new Error(`DELETE ${path}/${created.id}: ${gone.status} ${JSON.stringify(gone.body)}`);
  }
}
