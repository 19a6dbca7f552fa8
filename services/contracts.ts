/**
 * The contracts of all services, from which the API reference, event topology and database grants are
 * generated.
 */
import { about } from './about.ts';
import { documentsContract } from './documents/contract.ts';
import { exportContract } from './export/contract.ts';
import { identityContract } from './identity/contract.ts';
import { sharingContract } from './sharing/contract.ts';
import { webhookDeliveryContract } from './webhook-delivery/contract.ts';

/** The contracts in the order in which their services start. */
export const contracts = [
  identityContract,
  documentsContract,
  sharingContract,
  exportContract,
  webhookDeliveryContract,
] as const;

/** The prefix of all API paths. */
export const { apiPrefix } = about;

/** What every process needs to know about the whole system. */
export const system = {
  contracts,
  apiPrefix,
  bodyWorker: new URL('./body-worker.ts', import.meta.url),
} as const;
