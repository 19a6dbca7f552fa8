/** Runs the sharing service as a separate process. */
import { run } from '#libs/service';
import { system } from '../contracts.ts';
import { sharing } from './service.ts';

await run({ services: [sharing], ...system, environment: process.env });
