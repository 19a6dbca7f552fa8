/** Runs all services in one process, with the MongoDB at MONGODB_URI or else an embedded one. */
import { run } from '#libs/service';
import { apiPrefix, contracts } from './contracts.ts';
import { runLocal } from './local/run-local.ts';
import { services } from './services.ts';

const all = { services, contracts, apiPrefix, environment: process.env };
await (process.env.MONGODB_URI ? run(all) : runLocal(all));
