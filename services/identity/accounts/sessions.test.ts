/** Sessions and the access tokens that end with them, over HTTP with a real MongoDB and two replicas. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newId } from '#libs/contract';
import {
  type HttpClient,
  type Person,
  profileCommands,
  register,
  type TestApp,
  type TestResponse,
  testApp,
} from '#libs/testing';
import { contracts } from '../../contracts.ts';
import { documents } from '../../documents/service.ts';
import { identity } from '../../testing/services.ts';

let app: TestApp;
let replica: HttpClient;
let advancedMs = 0;

beforeAll(async () => {
  const now = () => new Date(Date.now() + advancedMs);
  app = await testApp({ services: [identity, documents], contracts, now });
  replica = await app.replica();
});
afterAll(() => app?.stop());

type Session = TestResponse['body'];
const post = (path: string, body: object) => app.request('POST', path, { body });
const login = async ({ email, password }: Person): Promise<Session> =>
  (await post('/auth/login', { email, password })).body;

/** The statuses of requests with the access token of a session, to both services and replicas. */
function use({ access_token: as }: Session): Promise<number[]> {
  return Promise.all(
    [app, replica].flatMap((client) =>
      ['/me', '/documents'].map(async (path) => (await client.request('GET', path, { as })).status),
    ),
  );
}
const accepted = [200, 200, 200, 200];
const rejected = [401, 401, 401, 401];

test('logging out ends the access tokens of the session at once', async () => {
  const ada = await register(app);
  const [ended, other] = [await login(ada), await login(ada)];
  const { body: renewed } = await post('/auth/refresh', { refresh_token: ended.refresh_token });
  for (const session of [ended, renewed, other]) expect(await use(session)).toEqual(accepted);
  expect((await post('/auth/logout', { refresh_token: renewed.refresh_token })).status).toBe(204);
  for (const session of [ended, renewed]) expect(await use(session)).toEqual(rejected);
  for (const session of [other, await login(ada)]) expect(await use(session)).toEqual(accepted);
});

test('reusing a refresh token ends the access tokens of the session', async () => {
  const ada = await register(app);
  const [stolen, other] = [await login(ada), await login(ada)];
  const { body: renewed } = await post('/auth/refresh', { refresh_token: stolen.refresh_token });
  expect((await post('/auth/refresh', { refresh_token: stolen.refresh_token })).status).toBe(401);
  for (const session of [stolen, renewed]) expect(await use(session)).toEqual(rejected);
  expect(await use(other)).toEqual(accepted);
});

test('a refresh token stays valid if its refresh fails', async () => {
  const { refresh_token } = await login(await register(app));
  const keys = app.db.collection('signing_keys');
  const stored = await keys.find().toArray();
  await keys.updateMany({}, { $set: { sealed_private: 'damaged' } });
  // the signer reads its keys again
  advancedMs += 15_000;
  expect((await post('/auth/refresh', { refresh_token })).status).toBe(500);
  for (const { _id, sealed_private } of stored) await keys.updateOne({ _id }, { $set: { sealed_private } });
  expect((await post('/auth/refresh', { refresh_token })).status).toBe(200);
});

test('a registration whose session cannot start creates no account', async () => {
  const email = `retry-${newId()}@example.com`;
  const account = { organization_name: 'Retry', name: 'R', email, password: 'correct horse battery' };
  await app.db.command({ collMod: 'sessions', validator: { _id: 'none' } });
  expect((await post('/auth/register', account)).status).toBe(500);
  await app.db.command({ collMod: 'sessions', validator: {} });
  expect((await post('/auth/register', account)).status).toBe(201);
});

test('an access token of an earlier membership is invalid after rejoining', async () => {
  const [ada, bob] = [await register(app), await register(app)];
  const join = async (): Promise<Session> => {
    const invited = { as: ada.token, body: { email: bob.email } };
    const { token } = (await app.request('POST', '/members/invitations', invited)).body;
    return (await post('/members/invitations/accept', { token, name: 'Bob', password: bob.password })).body;
  };
  const earlier = await join();
  expect(await use(earlier)).toEqual(accepted);
  await app.request('DELETE', `/members/${bob.userId}`, { as: ada.token });
  const later = await join();
  expect(await use(earlier)).toEqual(rejected);
  expect(await use(later)).toEqual(accepted);
});

test('the session is read only while a logout is recent', async () => {
  const ada = await register(app);
  const [ended, other] = [await login(ada), await login(ada)];
  const readSessions = async () => {
    const commands = await profileCommands(app.db, () =>
      app.request('GET', '/roles', { as: other.access_token }),
    );
    return commands.filter(({ collection }) => collection === 'live_sessions').length;
  };
  expect(await readSessions()).toBe(0);
  await post('/auth/logout', { refresh_token: ended.refresh_token });
  expect(await readSessions()).toBe(1);
});
