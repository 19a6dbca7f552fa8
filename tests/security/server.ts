/** All services in one process for the security tests: as in production, except that a password hash is cheap. */
import { run } from '#libs/service';
import { system } from '../../services/contracts.ts';
import { services } from '../../services/testing/services.ts';

await run({ services, ...system, environment: process.env });
