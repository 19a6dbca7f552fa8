/** Sharing as a process of its own. */
import { run } from '#libs/service';
import { apiPrefix, contracts } from '../contracts.ts';
import { sharing } from './service.ts';

await run({ services: [sharing], contracts, apiPrefix, environment: process.env });
