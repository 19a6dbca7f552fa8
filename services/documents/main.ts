/** Runs the documents service as its own process. */
import { run } from '#libs/service';
import { apiPrefix, contracts } from '../contracts.ts';
import { documents } from './service.ts';

await run({ services: [documents], contracts, apiPrefix, environment: process.env });
