/** Runs all services in one process. */
import { run } from '#libs/service';
import { apiPrefix, contracts } from './contracts.ts';
import { services } from './services.ts';

await run({ services, contracts, apiPrefix, environment: process.env });
