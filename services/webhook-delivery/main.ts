/** Runs webhook delivery in its own process. */
import { run } from '#libs/service';
import { system } from '../contracts.ts';
import { webhookDelivery } from './service.ts';

await run({ services: [webhookDelivery], ...system, environment: process.env });
