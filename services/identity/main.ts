/** Runs identity as its own process. */
import { run } from '#libs/service';
import { apiPrefix, contracts } from '../contracts.ts';
import { identity } from './service.ts';

await run({ services: [identity], contracts, apiPrefix, environment: process.env });
