/** Every contract of the system: the reference, the topology of events and the grants are made from this list. */
import { documentsContract } from './documents/contract.ts';
import { exportContract } from './export/contract.ts';
import { identityContract } from './identity/contract.ts';
import { sharingContract } from './sharing/contract.ts';
import { webhookDeliveryContract } from './webhook-delivery/contract.ts';

export const contracts = [
  identityContract,
  documentsContract,
  sharingContract,
  exportContract,
  webhookDeliveryContract,
] as const;

/** What every path of the API starts with. */
export const apiPrefix = '/api/v1';
