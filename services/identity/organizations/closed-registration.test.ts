/** Closed registration over HTTP with a real MongoDB: the operator creates organizations and invites their admins. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newId } from '#libs/contract';
import { auditRecorder, httpClient, opsToken, register, type TestApp, testApp } from '#libs/testing';
import { contracts } from '../../contracts.ts';
import { documents } from '../../documents/service.ts';
import { identity } from '../../testing/services.ts';
import { NewInvitation, Organization } from '../shapes.ts';

let app: TestApp;

beforeAll(async () => {
  const environment = {
    ...{ REGISTRATION: 'closed', DEFAULT_PLAN: 'team', APP_URL: 'https://docs.example/' },
    TRUSTED_PROXIES: '127.0.0.0/8',
  };
  app = await testApp({ services: [identity, documents], contracts, environment });
});
afterAll(() => app?.stop());

const password = 'correct horse battery staple';
const newEmail = () => `ada-${newId()}@example.com`;
const ops = (path: string, body: unknown, headers: Record<string, string> = {}) =>
  httpClient(app.management).request('POST', path, { as: opsToken, body, headers });
const createOrganization = (body: object = { name: `Harbour ${newId()}` }) => ops('/ops/organizations', body);
const invite = (id: string, body: object) => ops(`/ops/organizations/${id}/invitations`, body);
const accept = (token: string) =>
  app.request('POST', '/members/invitations/accept', { body: { token, name: 'Ada', password } });

test('a registration is rejected with 403, also for a taken email', async () => {
  const email = newEmail();
  const { id } = (await createOrganization()).body;
  await accept((await invite(id, { email })).body.token);
  for (const one of [newEmail(), email]) {
    const body = { organization_name: 'O', name: 'N', email: one, password };
    const log = auditRecorder(app, identity.contract);
    const { status, body: problem, lines } = await log.request('POST', '/auth/register', { body });
    expect([status, problem.code]).toEqual([403, 'registration_closed']);
    expect(lines).toMatchObject([{ event: 'account.register', outcome: 'registration_closed' }]);
  }
  await expect(register(app)).rejects.toThrow(/registration_closed/);
});

describe('the operator', () => {
  test('creates an organization on the default plan and invites its admin', async () => {
    const name = `Harbour ${newId()}`;
    const created = await createOrganization({ name });
    expect([created.status, Organization.parse(created.body).name]).toEqual([201, name]);
    const email = newEmail();
    const invited = await invite(created.body.id, { email });
    expect(invited.status).toBe(201);
    expect(NewInvitation.parse(invited.body)).toMatchObject({ email, role: 'admin', invited_by: null });
    expect(invited.body.invite_url).toBe(`https://docs.example/invite#${invited.body.token}`);

    const joined = await accept(invited.body.token);
    expect([joined.status, joined.body.member.role, joined.body.organization.id]).toEqual([
      200,
      'admin',
      created.body.id,
    ]);
    const as = joined.body.access_token;
    const plan = (await app.request('GET', '/organization/subscription', { as })).body;
    expect(plan).toMatchObject({ plan: 'team', publish_limit: 200, publish_used: 0 });
    expect((await app.request('POST', '/documents', { as, body: { title: 'SOP' } })).status).toBe(201);
  });

  test('invites to an existing organization, which knows of the invitation', async () => {
    const { id } = (await createOrganization()).body;
    const first = await accept((await invite(id, { email: newEmail() })).body.token);
    const email = newEmail();
    const { body } = await invite(id, { email, role: 'member' });
    const as = first.body.access_token;
    expect((await app.request('GET', '/members/invitations', { as })).body).toMatchObject([
      { id: body.id, email, role: 'member', invited_by: null },
    ]);
    const events = await app.db.collection('identity_outbox').find({ type: 'member.invited' }).toArray();
    const event = events
      .map(({ event }) => JSON.parse(event))
      .find(({ data }) => data.invitation.id === body.id);
    expect(event).toMatchObject({ organization_id: id, actor_id: null });
    expect(JSON.stringify(event)).not.toContain(body.token);
    const again = await invite(id, { email: first.body.member.email });
    expect([again.status, again.body.code]).toEqual([409, 'already_member']);
  });

  test('gets 409 for a taken slug, 400 for a reserved one, 404 without one', async () => {
    const slug = `harbour-${newId().slice(-8)}`;
    expect((await createOrganization({ name: 'Harbour', slug })).body.slug).toBe(slug);
    const taken = await createOrganization({ name: 'Harbour', slug });
    expect([taken.status, taken.body.code]).toEqual([409, 'slug_taken']);
    const reserved = await createOrganization({ name: 'Harbour', slug: 'admin' });
    expect([reserved.status, reserved.body.errors[0].path]).toEqual([400, 'body/slug']);
    expect((await invite(newId(), { email: newEmail() })).status).toBe(404);
  });

  test('repeats a request with an Idempotency-Key', async () => {
    const headers = { 'idempotency-key': newId() };
    const name = `Harbour ${newId()}`;
    const { body: organization } = await ops('/ops/organizations', { name }, headers);
    expect((await ops('/ops/organizations', { name }, headers)).body).toEqual(organization);
    const path = `/ops/organizations/${organization.id}/invitations`;
    const email = newEmail();
    const { body: invitation } = await ops(path, { email }, headers);
    expect((await ops(path, { email }, headers)).body).toEqual({
      ...invitation,
      token: null,
      invite_url: null,
    });
  });
});
