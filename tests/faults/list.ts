/** The faults that webhook delivery and the event bus must survive, what each guarantees, and the tests for it. */
import type { Fault } from './fault.ts';
import { faultsOfReceivers } from './faults-of-receivers.ts';
import { faultsOfServers } from './faults-of-servers.ts';

/** F1 to F23. */
export const faults: readonly Fault[] = [...faultsOfServers, ...faultsOfReceivers];
