/** Runs the export service as a separate process. */
import { run } from '#libs/service';
import { apiPrefix, contracts } from '../contracts.ts';
import { exporting } from './service.ts';

await run({ services: [exporting], contracts, apiPrefix, environment: process.env });
