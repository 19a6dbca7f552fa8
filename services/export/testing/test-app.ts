/** Starts a test app with the export service. */
import { type Person, register, type TestApp, testApp } from '#libs/testing';
import { documents } from '../../documents/service.ts';
import { sharing } from '../../sharing/service.ts';
import { identity } from '../../testing/services.ts';
import { exporting } from '../service.ts';

/**
 * Starts identity, documents, sharing and export, and registers an organization whose admin is Ada. `environment` adds
 * settings.
 */
export async function exportTestApp(
  environment: Record<string, string> = {},
): Promise<{ app: TestApp; ada: Person }> {
  const services = [identity, documents, sharing, exporting];
  const contracts = services.map(({ contract }) => contract);
  const app = await testApp({ services, contracts, environment });
  return { app, ada: await register(app) };
}
