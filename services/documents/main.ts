/** Runs the documents service as its own process. */
import { run } from '#libs/service';
import { system } from '../contracts.ts';
import { documents } from './service.ts';

await run({ services: [documents], ...system, environment: process.env });
