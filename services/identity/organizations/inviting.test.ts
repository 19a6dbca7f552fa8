/** Invitations over HTTP with a real MongoDB: who may invite, and how people join. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newId } from '#libs/contract';
import { type Person, register, type TestApp, testApp } from '#libs/testing';
import { contracts } from '../../contracts.ts';
import { documents } from '../../documents/service.ts';
import { identity } from '../../testing/services.ts';
import { AcceptedInvitation, Invitation, NewInvitation } from '../shapes.ts';

let app: TestApp;

beforeAll(async () => {
  app = await testApp({
    services: [identity, documents],
    contracts,
    environment: { APP_URL: 'https://docs.example/' },
  });
});
afterAll(() => app?.stop());

const password = 'correct horse battery staple';
const newEmail = () => `guest-${newId()}@example.com`;
const invite = (host: Person, body: unknown) =>
  app.request('POST', '/members/invitations', { as: host.key, body });
const accept = (token: string, more: object = {}) =>
  app.request('POST', '/members/invitations/accept', { body: { token, name: 'Guest', password, ...more } });
const findEvents = async (type: string, organizationId: string) => {
  const rows = await app.db.collection('identity_outbox').find({ type }).toArray();
  return rows
    .map(({ event }) => JSON.parse(event))
    .filter(({ organization_id }) => organization_id === organizationId);
};

describe('invitations', () => {
  test('an invitation into an unknown department is 400', async () => {
    const ada = await register(app);
    const { status, body } = await invite(ada, { email: newEmail(), department: 'Nowhere' });
    expect([status, body.code]).toEqual([400, 'no_such_department']);
  });

  test('a new user joins with a name and password; events carry no token', async () => {
    const ada = await register(app);
    const email = newEmail();
    const { status, body } = await invite(ada, { email: email.toUpperCase(), role: 'member' });
    expect(status).toBe(201);
    expect(NewInvitation.parse(body)).toMatchObject({
      email,
      role: 'member',
      department: null,
      invited_by: ada.userId,
    });
    expect(body.invite_url).toBe(`https://docs.example/invite#${body.token}`);
    expect(Date.parse(body.expires_at) - Date.parse(body.created_at)).toBe(7 * 86_400_000);
    const list = (await app.request('GET', '/members/invitations', { as: ada.key })).body;
    expect(list.map((item: unknown) => Invitation.parse(item).email)).toEqual([email]);

    const joined = await accept(body.token);
    expect(joined.status).toBe(200);
    expect(AcceptedInvitation.parse(joined.body)).toMatchObject({
      replaced_account: null,
      member: { email, name: 'Guest', role: 'member' },
      organization: { id: ada.organizationId },
    });
    expect((await app.request('GET', '/me', { as: joined.body.access_token })).status).toBe(200);
    expect((await app.request('GET', '/members/invitations', { as: ada.key })).body).toEqual([]);
    expect((await accept(body.token)).body.code).toBe('invitation_invalid');

    const [invited] = await findEvents('member.invited', ada.organizationId);
    const [joinedEvent] = await findEvents('member.joined', ada.organizationId);
    expect(invited.data.invitation).toMatchObject({ id: body.id, email });
    expect(JSON.stringify(invited)).not.toContain(body.token);
    expect(joinedEvent.data.member).toEqual(joined.body.member);
  });

  test('an existing account joins with its password', async () => {
    const [ada, bob] = await Promise.all([register(app), register(app)]);
    const { body } = await invite(ada, { email: bob.email, role: 'admin' });
    const wrong = await accept(body.token);
    expect([wrong.status, wrong.body.code]).toEqual([401, 'wrong_credentials']);
    const right = await accept(body.token, { password: bob.password, name: 'Another Name' });
    expect([right.status, right.body.member.name, right.body.member.role]).toEqual([
      200,
      'Ada Example',
      'admin',
    ]);
    const own = { email: bob.email, password: bob.password, organization_slug: bob.slug };
    expect((await app.request('POST', '/auth/login', { body: own })).status).toBe(200);
  });

  test('an invitation stays open if the session cannot start', async () => {
    const ada = await register(app);
    const { body } = await invite(ada, { email: newEmail() });
    await app.db.command({ collMod: 'sessions', validator: { _id: 'none' } });
    expect((await accept(body.token)).status).toBe(500);
    await app.db.command({ collMod: 'sessions', validator: {} });
    expect((await accept(body.token)).status).toBe(200);
    expect(await findEvents('member.joined', ada.organizationId)).toHaveLength(1);
  });

  test('an account without organization does not block an invitation', async () => {
    const [ada, squatter] = await Promise.all([register(app), register(app)]);
    await app.db.collection('members').deleteMany({ user_id: squatter.userId });
    const { body } = await invite(ada, { email: squatter.email });
    expect((await accept(body.token)).status).toBe(200);
    const login = (secret: string) =>
      app.request('POST', '/auth/login', { body: { email: squatter.email, password: secret } });
    expect([(await login(password)).status, (await login(squatter.password)).status]).toEqual([200, 401]);
  });

  test('replaced, withdrawn, expired and unknown tokens are invalid', async () => {
    const ada = await register(app);
    const email = newEmail();
    const first = (await invite(ada, { email })).body;
    const second = (await invite(ada, { email, role: 'admin' })).body;
    expect((await accept(first.token)).body.code).toBe('invitation_invalid');
    expect((await app.request('DELETE', `/members/invitations/${second.id}`, { as: ada.key })).status).toBe(
      204,
    );
    expect((await accept(second.token)).body.code).toBe('invitation_invalid');
    const third = (await invite(ada, { email })).body;
    await app.db
      .collection<{ _id: string }>('invitations')
      .updateOne({ _id: third.id }, { $set: { expires_at: new Date(0) } });
    expect((await accept(third.token)).body.code).toBe('invitation_invalid');
    expect((await accept('nonsense')).body.code).toBe('invitation_invalid');
  });

  test('five concurrent acceptances create one member', async () => {
    const ada = await register(app);
    const { body } = await invite(ada, { email: newEmail() });
    const short = await accept(body.token, { password: 'short' });
    expect([short.status, short.body.errors[0].path]).toEqual([400, 'body/password']);
    const easy = await accept(body.token, { password: 'qwertyuiop123' });
    expect([easy.status, easy.body.errors[0].path]).toEqual([400, 'body/password']);
    const responses = await Promise.all(Array.from({ length: 5 }, () => accept(body.token)));
    expect(responses.map(({ status }) => status).sort()).toEqual([200, 400, 400, 400, 400]);
    expect(await findEvents('member.joined', ada.organizationId)).toHaveLength(1);
    expect((await app.request('GET', '/members', { as: ada.key })).body).toHaveLength(2);
  });

  test('only admins can invite, and members cannot be invited again', async () => {
    const ada = await register(app);
    const email = newEmail();
    const guest = (await accept((await invite(ada, { email })).body.token)).body;
    const again = await invite(ada, { email });
    expect([again.status, again.body.code]).toEqual([409, 'already_member']);
    const rejected = await app.request('POST', '/members/invitations', {
      as: guest.access_token,
      body: { email: newEmail() },
    });
    expect(rejected.status).toBe(403);
  });

  test('a replayed invitation returns no token', async () => {
    const ada = await register(app);
    const request = { as: ada.key, body: { email: newEmail() }, headers: { 'idempotency-key': newId() } };
    const first = (await app.request('POST', '/members/invitations', request)).body;
    const second = (await app.request('POST', '/members/invitations', request)).body;
    expect(second).toEqual({ ...first, token: null, invite_url: null });
    expect((await accept(first.token)).status).toBe(200);
  });
});
