/** Sends hostile bodies while others use the service: each is rejected, and all other requests succeed. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Person, register } from '#libs/testing';
import { type ServiceProcess, startServiceProcess } from '../service-process.ts';
import { hostileBodies, measureOthers } from './cases.ts';

let service: ServiceProcess;
let ada: Person;
let bob: Person;

beforeAll(async () => {
  service = await startServiceProcess();
  [ada, bob] = await Promise.all([register(service.api), register(service.api)]);
});
afterAll(() => service?.stop());

test.each(hostileBodies.map((body) => [body.name, body] as const))(
  '%s is rejected, and others are served meanwhile',
  async (name, { method, path, headers = {}, create, expected }) => {
    const hostile = create();
    let isOver = false;
    const others = measureOthers(
      (as) => service.api.request('GET', '/documents', { as }),
      bob.key,
      () => isOver,
    );
    const { status, body } = await service.api.request(method, path, { as: ada.key, body: hostile, headers });
    isOver = true;
    const { slowestMs, statuses } = await others;
    expect([status, body.code]).toEqual(expected);
    expect([...statuses]).toEqual([200]);
    // a time that depends on the machine is shown, not asserted
    process.stderr.write(`${name}: another request waited at most ${Math.round(slowestMs)} ms.\n`);
  },
);
