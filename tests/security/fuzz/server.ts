/** All services in one process for the fuzz tests: as in production, except that a password hash is cheap. */
import { run } from '#libs/service';
import { apiPrefix, contracts } from '../../../services/contracts.ts';
import { services } from '../../../services/testing/services.ts';

await run({ services, contracts, apiPrefix, environment: process.env });
