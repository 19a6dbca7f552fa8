/** The list of faults that webhook delivery and the carrying of events must stand: what happens, what is promised, and which tests prove it. */
import type { Fault } from './fault.ts';
import { faultsOfReceivers } from './faults-of-receivers.ts';
import { faultsOfServers } from './faults-of-servers.ts';

/** F1 to F23. */
export const faults: readonly Fault[] = [...faultsOfServers, ...faultsOfReceivers];
