/** Sends hostile bodies while others use the service: each is rejected, and all other requests succeed. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Person, register, type TestApp, testApp } from '#libs/testing';
import { contracts } from '../../../services/contracts.ts';
import { services } from '../../../services/testing/services.ts';
import { hostileBodies, measureOthers } from './cases.ts';

let app: TestApp;
let ada: Person;
let bob: Person;

beforeAll(async () => {
  app = await testApp({ services, contracts });
  [ada, bob] = await Promise.all([register(app), register(app)]);
});
afterAll(() => app?.stop());

test.each(hostileBodies.map((body) => [body.name, body] as const))(
  '%s is rejected, and others are served meanwhile',
  async (name, { method, path, headers = {}, create, expected }) => {
    let isOver = false;
    const others = measureOthers(
      (as) => app.request('GET', '/documents', { as }),
      bob.key,
      () => isOver,
    );
    const { status, body } = await app.request(method, path, { as: ada.key, body: create(), headers });
    isOver = true;
    const { slowestMs, statuses } = await others;
    expect([status, body.code]).toEqual(expected);
    expect([...statuses]).toEqual([200]);
    // a time that depends on the machine is shown, not asserted
    process.stderr.write(`${name}: another request waited at most ${Math.round(slowestMs)} ms.\n`);
  },
);
