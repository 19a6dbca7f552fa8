/** A world with export in it, for tests, and somebody who exports. */
import { type Person, register, type TestApp, testApp } from '#libs/testing';
import { documents } from '../../documents/service.ts';
import { identity } from '../../identity/service.ts';
import { exporting } from '../service.ts';

/** Starts the world, of identity, documents and export; Ada is the admin of an organization. `environment` adds to the settings. */
export async function exportWorld(
  environment: Record<string, string> = {},
): Promise<{ here: TestApp; ada: Person }> {
  const services = [identity, documents, exporting];
  const here = await testApp({ services, contracts: services.map((one) => one.contract), environment });
  return { here, ada: await register(here) };
}
