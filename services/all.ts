/** Runs all services in one process. */
import { run } from '#libs/service';
import { system } from './contracts.ts';
import { services } from './services.ts';

await run({ services, ...system, environment: process.env });
