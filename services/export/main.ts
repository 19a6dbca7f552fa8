/** Runs the export service as a separate process. */
import { run } from '#libs/service';
import { system } from '../contracts.ts';
import { exporting } from './service.ts';

await run({ services: [exporting], ...system, environment: process.env });
