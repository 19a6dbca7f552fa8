/** Runs the sharing service as a separate process. */
import { run } from '#libs/service';
import { apiPrefix, contracts } from '../contracts.ts';
import { sharing } from './service.ts';

await run({ services: [sharing], contracts, apiPrefix, environment: process.env });
