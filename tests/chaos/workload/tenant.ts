/** Simulates an organization whose members join, write, publish, share and export. It records every accepted change. */
import { randomBytes } from 'node:crypto';
import type { ApiResponse, SendRequest } from './client.ts';

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
  webhook: { id: string; secret: string };
  changes: Change[];
  documents: WrittenDocument[];
  /** User ids of the members who joined. */
  joined: string[];
}

const password = 'a-long-evening-in-the-archive';

/** Registers an organization with a webhook. Each `round` adds to the changes in `tenant`. */
export async function createTenant(ask: SendRequest, hookUrl: (slug: string) => string) {
  const unique = randomBytes(6).toString('hex');
  const email = `ada-${unique}@example.com`;
  const account = { name: 'Ada Example', email, password };
  const slug = `tenant-${unique}`;
  const session = await signIn(
    ask,
    '/auth/register',
    { ...account, organization_name: slug, organization_slug: slug },
    email,
  );
  const token: string = session.access_token;
  const { key } = await createWithSecret(
    ask,
    token,
    '/api-keys',
    { name: 'Integration', role: 'admin' },
    'key',
  );
  const hook = await createWithSecret(
    ask,
    key,
    '/webhooks',
    {
      name: 'Everything',
      url: hookUrl(slug),
      event_types: ['document.published', 'member.invited', 'member.joined'],
    },
    'secret',
  );
  const tenant: TestTenant = {
    organizationId: session.organization.id,
    slug,
    email,
    adminId: session.member.id,
    key,
    webhook: hook,
    changes: [],
    documents: [],
    joined: [],
  };

  return {
    tenant,
    /** A new member joins and writes documents, which the admin publishes and shares. */
    async round(documents: number): Promise<void> {
      const author = await join();
      for (let created = 0; created < documents; created += 1) await write(author);
      // a read inbox item must not be replaced if its event is consumed again
      for (const as of [author.token, key]) must(await ask('POST', '/inbox/read-all', { as }), 204);
    },
  };

  async function join() {
    const guest = `guest-${randomBytes(6).toString('hex')}@example.com`;
    let invited: ApiResponse['body'];
    do {
      invited = must(await ask('POST', '/members/invitations', { as: key, body: { email: guest } }), 201);
      tenant.changes.push({ type: 'member.invited', about: invited.id });
      // only the first response shows the token; if it was lost, the guest is invited again
    } while (invited.token === null);
    const body = { token: invited.token, name: 'Guest', password };
    const joined = await signIn(ask, '/members/invitations/accept', body, guest);
    tenant.changes.push({ type: 'member.joined', about: joined.member.id });
    tenant.joined.push(joined.member.id);
    return { id: joined.member.id as string, token: joined.access_token as string };
  }

  async function write(author: { id: string; token: string }): Promise<void> {
    const as = author.token;
    const title = `Closing the till ${randomBytes(6).toString('hex')}`;
    const step = { node_type: 'step', title: 'Count', content: { type: 'doc', content: [] } };
    const nodes = [{ node_type: 'section', title: 'Evening', children: [step] }];
    const draft = must(await ask('POST', '/documents', { as, body: { title, nodes } }), 201);
    const added = must(
      await ask('POST', `/documents/${draft.id}/nodes`, {
        as,
        body: { node_type: 'section', title: 'Morning', order: 1 },
      }),
      201,
    );
    must(await ask('POST', `/documents/${draft.id}/publish`, { as: key }), 200);
    tenant.changes.push({ type: 'document.published', about: draft.id });
    const link = must(await ask('POST', `/documents/${draft.id}/share-token`, { as: key }), 201);
    const nodeIds = [draft.nodes[0].id, draft.nodes[0].children[0].id, added.id];
    tenant.documents.push({ id: draft.id, title, author: author.id, nodeIds, shareToken: link.token });
    const seen = must(await ask('GET', `/embed/${tenant.slug}/${link.token}`), 200);
    if (seen.title !== title) throw new Error(`The link of ${title} shows ${seen.title}`);
    const text = must(await ask('GET', `/documents/${draft.id}/export/markdown`, { as: key }), 200);
    if (!text.startsWith(`# ${title}\n`))
      throw new Error(`The export of ${title} begins ${text.slice(0, 60)}`);
  }
}

/** The body of a response. Throws if it has another status. */
function must({ status, body }: ApiResponse, expected: number): ApiResponse['body'] {
  if (status !== expected) throw new Error(`${status} instead of ${expected}: ${JSON.stringify(body)}`);
  return body;
}

/** Gets a session by a request without an Idempotency-Key. If its first response was lost, logs in instead. */
async function signIn(
  ask: SendRequest,
  path: string,
  body: object,
  email: string,
): Promise<ApiResponse['body']> {
  const response = await ask('POST', path, { body });
  if (response.status < 300) return response.body;
  if (!response.again) throw new Error(`${path}: ${response.status} ${JSON.stringify(response.body)}`);
  return must(await ask('POST', '/auth/login', { body: { email, password } }), 200);
}

/** Creates a resource whose first response alone shows its secret. If that response was lost, creates it again. */
async function createWithSecret(
  ask: SendRequest,
  as: string,
  path: string,
  body: object,
  secret: string,
): Promise<ApiResponse['body']> {
  for (;;) {
    const created = must(await ask('POST', path, { as, body }), 201);
    if (created[secret] !== null) return created;
    const gone = await ask('DELETE', `${path}/${created.id}`, { as });
    if (!(gone.again && gone.status === 404)) must(gone, 204);
  }
}
