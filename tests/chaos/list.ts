/** The list of faults that webhook delivery and the carrying of events must stand: what happens, what is promised, and which tests prove it. */
import type { Fault } from './fault.ts';
import { faultsOfReceivers } from './receiver-faults.ts';
import { faultsOfServers } from './server-faults.ts';

/** F1 to F23. */
export const faults: readonly Fault[] = [...faultsOfServers, ...faultsOfReceivers];
