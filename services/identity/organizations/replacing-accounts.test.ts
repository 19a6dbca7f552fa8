/** An email that a stranger registered does not keep its owner from joining, over HTTP with a real MongoDB. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newId } from '#libs/contract';
import { httpClient, opsToken, type Person, register, type TestApp, testApp } from '#libs/testing';
import { contracts } from '../../contracts.ts';
import { documents } from '../../documents/service.ts';
import { identity } from '../../testing/services.ts';
import { AcceptedInvitation } from '../shapes.ts';

let app: TestApp;

beforeAll(async () => {
  app = await testApp({ services: [identity, documents], contracts });
  // earlier versions created this index, which would prevent every replacement
  await app.db.collection('users').createIndex({ email: 1 }, { unique: true });
  await app.restart();
});
afterAll(() => app?.stop());

const password = 'correct horse battery staple';
const invite = async (host: Person, email: string) =>
  (await app.request('POST', '/members/invitations', { as: host.token, body: { email } })).body.token;
const accept = (token: string, more: object = {}) =>
  app.request('POST', '/members/invitations/accept', {
    body: { token, name: 'Guest', password, replace_account: true, ...more },
  });
const login = (email: string, secret: string, organization_slug?: string) =>
  app.request('POST', '/auth/login', { body: { email, password: secret, organization_slug } });
const me = async (as: string) => (await app.request('GET', '/me', { as })).status;

describe('an account whose email no invitation has confirmed', () => {
  test('the holder of an invitation takes over the email only on request', async () => {
    const [ada, stranger] = [await register(app), await register(app)];
    const token = await invite(ada, stranger.email);
    const wrong = await accept(token, { replace_account: false });
    expect([wrong.status, wrong.body.code]).toEqual([401, 'wrong_credentials']);
    expect(wrong.body.detail).toMatch(/replace_account: true/);
    const weak = await accept(token, { password: 'passwordpassword' });
    expect([weak.status, weak.body.errors[0].path]).toEqual([400, 'body/password']);

    const { status, body } = await accept(token);
    expect(status).toBe(200);
    expect(AcceptedInvitation.parse(body)).toMatchObject({
      member: { name: 'Guest', email: stranger.email },
      organization: { id: ada.organizationId },
      replaced_account: { detail: expect.stringMatching(/organization that it founded stays with it/) },
    });
    expect(body.member.id).not.toBe(stranger.userId);
    const own = await login(stranger.email, password);
    expect([own.body.member.id, own.body.organization.id]).toEqual([body.member.id, ada.organizationId]);
    // the new account has no access to the organization of the other one
    expect((await login(stranger.email, password, stranger.slug)).status).toBe(401);
  });

  test('the replaced account keeps its organization, sessions, keys and login', async () => {
    const [ada, founder] = [await register(app), await register(app)];
    expect((await accept(await invite(ada, founder.email))).status).toBe(200);
    expect([await me(founder.token), await me(founder.key)]).toEqual([200, 200]);
    for (const slug of [undefined, founder.slug]) {
      const { status, body } = await login(founder.email, founder.password, slug);
      expect([status, body.member?.id, body.organization?.id]).toEqual([
        200,
        founder.userId,
        founder.organizationId,
      ]);
    }
    expect((await login(founder.email, founder.password, ada.slug)).status).toBe(401);
    // nor can the email be invited to its organization or registered again
    const invited = { as: founder.token, body: { email: founder.email } };
    expect((await app.request('POST', '/members/invitations', invited)).body.code).toBe('already_member');
    const again = { organization_name: 'O', name: 'N', email: founder.email, password };
    expect((await app.request('POST', '/auth/register', { body: again })).body.code).toBe('email_taken');
  });

  test('one password for both accounts logs in to both organizations', async () => {
    const [ada, founder] = [await register(app), await register(app)];
    await accept(await invite(ada, founder.email), { password: founder.password });
    const both = await login(founder.email, founder.password);
    expect([both.status, both.body.code]).toEqual([400, 'organization_required']);
    for (const slug of [ada.slug, founder.slug])
      expect((await login(founder.email, founder.password, slug)).body.organization.slug).toBe(slug);
  });

  test('the operator resets the password of a replaced account', async () => {
    const [ada, founder] = [await register(app), await register(app)];
    const { body: guest } = await accept(await invite(ada, founder.email));
    const reset = async (organization_slug?: string) => {
      const body = { email: founder.email, organization_slug };
      const created = await httpClient(app.management).request('POST', '/ops/password-resets', {
        as: opsToken,
        body,
      });
      if (created.status !== 201) return created.body.code;
      const secret = `reset password of ${newId()}`;
      await app.request('POST', '/auth/reset-password', {
        body: { token: created.body.token, password: secret },
      });
      return (await login(founder.email, secret)).body.member.id;
    };
    expect(await reset()).toBe(guest.member.id);
    expect(await reset(founder.slug)).toBe(founder.userId);
    expect(await reset('no-such-organization')).toBe('no_such_account');
  });

  test('two invitations accepted concurrently give the email to one account', async () => {
    const [ada, bob, stranger] = [await register(app), await register(app), await register(app)];
    const tokens = [await invite(ada, stranger.email), await invite(bob, stranger.email)];
    const responses = await Promise.all(
      tokens.map((token, at) => accept(token, { password: `${password} ${at}` })),
    );
    expect(responses.map(({ status }) => status).sort()).toEqual([200, 401]);
    expect(await app.db.collection('users').countDocuments({ email: stranger.email })).toBe(2);
  });
});

describe('no invitation replaces', () => {
  test('an account that joined with an invitation', async () => {
    const [ada, bob, eve] = [await register(app), await register(app), await register(app)];
    const joined = await accept(await invite(ada, bob.email), {
      password: bob.password,
      replace_account: false,
    });
    expect([joined.status, joined.body.replaced_account]).toEqual([200, null]);
    // also after it has left that organization
    await app.request('DELETE', `/members/${bob.userId}`, { as: ada.token });
    const rejected = await accept(await invite(eve, bob.email));
    expect([rejected.status, rejected.body.code]).toEqual([401, 'wrong_credentials']);
    expect(rejected.body.detail).not.toMatch(/replace_account/);
    expect((await login(bob.email, bob.password)).status).toBe(200);
  });
});
