/** Runs one service (`npm run service -- documents`) on ports of its own; `npm run gateway` joins the five on one. */
import { localService } from './local-service.ts';

const asked = localService(process.argv[2], 'service', process.env);
if (typeof asked === 'string') {
  console.error(asked);
  process.exitCode = 1;
} else {
  Object.assign(process.env, asked.environment);
  await import(`../services/${asked.name}/main.ts`);
}
