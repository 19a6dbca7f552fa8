/** Every contract of the system: the reference, the topology of events and the grants are made from this list. */
import { documentsContract } from './documents/contract.ts';
import { identityContract } from './identity/contract.ts';

export const contracts = [identityContract, documentsContract] as const;
