/** Every service in one process: over MONGODB_URI when it is set, else the local run with an embedded database. */
import { run } from '#libs/service';
import { apiPrefix, contracts } from './contracts.ts';
import { runLocal } from './local/run-local.ts';
import { services } from './services.ts';

const all = { services, contracts, apiPrefix, environment: process.env };
await (process.env.MONGODB_URI ? run(all) : runLocal(all));
