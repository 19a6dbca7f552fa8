/** The services for tests: as in production, except that a password hash is cheap. */
import type { AnyService } from '#libs/service';
import { createIdentity } from '../identity/service.ts';
import { services as productionServices } from '../services.ts';
import { createSharing } from '../sharing/service.ts';

const cost = { N: 2, r: 4 };

/** Identity with a password hash that takes 1 KiB of memory. */
export const identity = createIdentity(cost);

/** Sharing with the same hash. */
export const sharing = createSharing(cost);

const cheap: readonly AnyService[] = [identity, sharing];

/** All services in the order in which they start. */
export const services = productionServices.map(
  (service) => cheap.find(({ contract }) => contract === service.contract) ?? service,
);
