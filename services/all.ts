/**
 * Runs all services in one process: on the MongoDB at MONGODB_URI, or on an embedded MongoDB if it is unset.
 */
import { run } from '#libs/service';
import { apiPrefix, contracts } from './contracts.ts';
import { runLocal } from './local/run-local.ts';
import { services } from './services.ts';

const all = { services, contracts, apiPrefix, environment: process.env };
await (process.env.MONGODB_URI ? run(all) : runLocal(all));
