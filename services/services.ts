/** All services. */
import { documents } from './documents/service.ts';
import { exporting } from './export/service.ts';
import { identity } from './identity/service.ts';
import { sharing } from './sharing/service.ts';
import { webhookDelivery } from './webhook-delivery/service.ts';

/** The services in the order in which they start. */
export const services = [identity, documents, sharing, exporting, webhookDelivery] as const;

/** The collections to which services only append. An administrator creates them: see `libs/store/grants.ts`. */
export const appendOnlyCollections = services.flatMap(({ contract, collections }) =>
  collections.filter(({ name }) => contract.appends?.includes(name)),
);
