/** The faults that webhook delivery and the event bus must survive, what each guarantees, and the tests for it. */
import type { Fault } from './fault.ts';
import { faultsOfReceivers } from './receiver-faults.ts';
import { faultsOfServers } from './server-faults.ts';

/** F1 to F23. */
export const faults: readonly Fault[] = [...faultsOfServers, ...faultsOfReceivers];
