/** The services for tests: as in production, except that a password hash is cheap. */
import { createIdentity } from '../identity/service.ts';
import { services as productionServices } from '../services.ts';

/** Identity with a password hash that takes 1 KiB of memory. */
export const identity = createIdentity({ N: 2, r: 4 });

/** All services in the order in which they start. */
export const services = productionServices.map((service) =>
  service.contract === identity.contract ? identity : service,
);
