/**
 * Runs one service on its own ports (`npm run service -- documents`). `npm run gateway` serves all five on
 * one port.
 */
import { findLocalService } from './local-service.ts';

const localService = findLocalService(process.argv[2], 'service', process.env);
if (typeof localService === 'string') {
  console.error(localService);
  process.exitCode = 1;
} else {
  Object.assign(process.env, localService.environment);
  await import(`../services/${localService.name}/main.ts`);
}
