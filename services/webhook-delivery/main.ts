/** Runs webhook delivery in its own process. */
import { run } from '#libs/service';
import { apiPrefix, contracts } from '../contracts.ts';
import { webhookDelivery } from './service.ts';

await run({ services: [webhookDelivery], contracts, apiPrefix, environment: process.env });
