/** Runs identity as its own process. */
import { run } from '#libs/service';
import { system } from '../contracts.ts';
import { identity } from './service.ts';

await run({ services: [identity], ...system, environment: process.env });
