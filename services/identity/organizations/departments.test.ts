/** Departments over HTTP with a real MongoDB: renaming, paging and concurrent changes. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { z } from 'zod';
import { newId } from '#libs/contract';
import { listAll, must, type Person, register, type TestApp, testApp } from '#libs/testing';
import { contracts } from '../../contracts.ts';
import { identity } from '../../testing/services.ts';
import type { Member } from '../shapes.ts';

let app: TestApp;

beforeAll(async () => {
  app = await testApp({ services: [identity], contracts });
});
afterAll(() => app?.stop());

const add = (host: Person, name: string) =>
  app.request('POST', '/departments', { as: host.key, body: { name } });
const rename = (host: Person, id: string, name: string) =>
  must(app, 'PATCH', `/departments/${id}`, { as: host.key, body: { name } });

/** Invites a person into a department and returns the token. */
const invite = async (host: Person, department: string): Promise<string> => {
  const body = { email: `${newId()}@example.com`, department };
  return (await must(app, 'POST', '/members/invitations', { as: host.key, body, status: 201 })).token;
};

/** Accepts an invitation and returns the department of the new member. */
const accept = async (token: string): Promise<string | null> => {
  const body = { token, name: 'Guest', password: 'correct horse battery staple' };
  return (await must(app, 'POST', '/members/invitations/accept', { body, status: 200 })).member.department;
};

test('a rename updates members, and a department in use stays', async () => {
  const [ada, bob] = await Promise.all([register(app), register(app)]);
  const { body: legal } = await add(ada, 'Legal');
  expect((await add(ada, 'Legal')).body.code).toBe('department_taken');
  expect((await add(bob, 'Legal')).status).toBe(201);
  const put = (department: string | null) =>
    app.request('PATCH', `/members/${ada.userId}`, { as: ada.key, body: { department } });
  expect((await put('Nowhere')).body.code).toBe('no_such_department');
  expect((await put('Legal')).body.department).toBe('Legal');
  const renamed = await app.request('PATCH', `/departments/${legal.id}`, {
    as: ada.key,
    body: { name: 'Law' },
  });
  expect(renamed.body).toEqual({ ...legal, name: 'Law' });
  expect((await app.request('GET', '/me', { as: ada.key })).body.member.department).toBe('Law');
  const used = await app.request('DELETE', `/departments/${legal.id}`, { as: ada.key });
  expect([used.status, used.body.code]).toEqual([409, 'department_in_use']);
  expect((await put(null)).body.department).toBeNull();
  expect((await app.request('DELETE', `/departments/${legal.id}`, { as: ada.key })).status).toBe(204);
  expect((await app.request('GET', '/departments', { as: ada.key })).body).toEqual([]);
});

test('a rename updates the open invitations of the organization only', async () => {
  const [ada, bob] = await Promise.all([register(app), register(app)]);
  const { body: ops } = await add(ada, 'Ops');
  await add(bob, 'Ops');
  const tokens = [await invite(ada, 'Ops'), await invite(bob, 'Ops')];
  await rename(ada, ops.id, 'Operations');
  const [listed] = await must(app, 'GET', '/members/invitations', { as: ada.key });
  expect(listed.department).toBe('Operations');
  expect(await Promise.all(tokens.map(accept))).toEqual(['Operations', 'Ops']);
});

test('a concurrent rename and acceptance keep the department', async () => {
  const ada = await register(app);
  for (let round = 0; round < 8; round += 1) {
    const { body } = await add(ada, `Before ${round}`);
    const token = await invite(ada, body.name);
    const accepted = accept(token);
    await rename(ada, body.id, `After ${round}`);
    await accepted;
    const members = await listAll<z.infer<typeof Member>>(app, '/members', ada.key);
    expect(members.at(-1)?.department).toBe(`After ${round}`);
  }
});

test('a rename publishes the former name, and no event if it changes nothing', async () => {
  const ada = await register(app);
  const { body: ops } = await add(ada, 'Ops');
  for (const name of ['Ops', 'Operations', 'Operations', 'Shops']) await rename(ada, ops.id, name);
  const rows = await app.db.collection('identity_outbox').find({ type: 'department.renamed' }).toArray();
  const events = rows.map(({ event }) => JSON.parse(event));
  const own = events.filter(({ organization_id }) => organization_id === ada.organizationId);
  expect(own.map(({ data }) => data)).toEqual([
    { department_id: ops.id, before: 'Ops', after: 'Operations' },
    { department_id: ops.id, before: 'Operations', after: 'Shops' },
  ]);
});

test('departments are listed page by page, sorted by name', async () => {
  const ada = await register(app);
  for (const name of ['C', 'A', 'B']) await add(ada, name);
  const first = await app.request('GET', '/departments?limit=2', { as: ada.key });
  const next = /<\/api\/v1([^>]+)>/.exec(first.headers.get('link') ?? '')?.[1] ?? '';
  const second = await app.request('GET', next, { as: ada.key });
  expect([...first.body, ...second.body].map(({ name }: { name: string }) => name)).toEqual(['A', 'B', 'C']);
});

test('a concurrent deletion and assignment leave no deleted department', async () => {
  const ada = await register(app);
  for (let round = 0; round < 8; round += 1) {
    const { body } = await add(ada, `D${round}`);
    await Promise.all([
      app.request('DELETE', `/departments/${body.id}`, { as: ada.key }),
      app.request('PATCH', `/members/${ada.userId}`, { as: ada.key, body: { department: `D${round}` } }),
    ]);
    const { department } = (await app.request('GET', '/me', { as: ada.key })).body.member;
    const names = (await app.request('GET', '/departments', { as: ada.key })).body.map(
      ({ name }: { name: string }) => name,
    );
    expect([...names, null]).toContain(department);
  }
});
