/** Tests that cursors and public links of another organization reveal nothing about it. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { register, shareDocument, type TestApp, type TestResponse, testApp } from '#libs/testing';
import { contracts } from '../../../services/contracts.ts';
import { services } from '../../../services/testing/services.ts';
import { fillPath } from '../../permissions/samples.ts';
import { toComparable } from './comparison.ts';
import { operations } from './positions.ts';
import { createTenant, type Tenant } from './tenant.ts';

let app: TestApp;
let owner: Tenant;
let caller: Tenant;

beforeAll(async () => {
  app = await testApp({ services, contracts });
  [owner, caller] = await Promise.all([createTenant(app), createTenant(app)]);
});
afterAll(() => app?.stop());

/** The cursor of documents has an id only between equal sort keys: drafts have no time of publishing. */
const sorted: Readonly<Record<string, string>> = { listDocuments: '&status=draft&sort=published_at' };

describe('a cursor of another organization is like an unknown one', () => {
  const lists = operations.filter(({ paged }) => paged);
  test.each(lists.map(({ id }) => id))('%s', async (id) => {
    const operation = lists.find((one) => one.id === id);
    if (!operation) throw new Error(`${id} is not a list`);
    const params = new Map([owner, caller].map((tenant) => [tenant, {}]));
    const getPage = (tenant: Tenant, query: string) => {
      const sample = { params: params.get(tenant) ?? {}, query: `${query}${sorted[id] ?? ''}` };
      return app.request('GET', fillPath(operation, sample), { as: tenant.getToken(id) });
    };
    for (const tenant of [owner, caller]) params.set(tenant, await fill(tenant, id));
    const cursor = getNextCursor(await getPage(owner, '?limit=1'));
    const withTheirs = await getPage(caller, `?cursor=${cursor}`);
    const withUnknown = await getPage(caller, `?cursor=${'A'.repeat(cursor.length)}`);
    expect(withTheirs.status).toBe(400);
    expect(toComparable(withTheirs)).toBe(toComparable(withUnknown));
    expect((await getPage(owner, `?cursor=${cursor}`)).status).toBe(200);
    expect(new TextDecoder().decode(withTheirs.bytes)).not.toContain(owner.people.admin.organizationId);
  });
});

test('parts of a public link of another organization open nothing', async () => {
  const [ada, bob] = await Promise.all([register(app), register(app)]);
  const [theirs, own] = await Promise.all([shareDocument(app, ada.key), shareDocument(app, bob.key)]);
  const open = (slug: string, token: string) => app.request('GET', `/embed/${slug}/${token}`);
  const unknown = 'A'.repeat(own.token.length);
  const expected = toComparable(await open(own.slug, unknown), own.slug, unknown);
  expect(expected).toMatch(/^404\n/);
  for (const [slug, token] of [
    [own.slug, theirs.token],
    [theirs.slug, own.token],
    [theirs.slug, unknown],
    ['no-such-organization', own.token],
  ] as const)
    expect(toComparable(await open(slug, token), slug, token)).toBe(expected);
  expect((await open(own.slug, own.token)).status).toBe(200);
});

/** Creates two items of a list, so that a page of one item has a next page. Returns the parameters of its path. */
async function fill({ sample }: Tenant, id: string): Promise<Record<string, string>> {
  await sample(id);
  return (await sample(id)).params ?? {};
}

function getNextCursor({ headers }: TestResponse): string {
  const cursor = /[?&]cursor=([^&>]+)/.exec(headers.get('link') ?? '')?.[1];
  if (!cursor) throw new Error(`The page has no next page: ${headers.get('link')}`);
  return cursor;
}
