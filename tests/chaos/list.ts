/** The faults that webhook delivery and the event bus must survive, what each guarantees, and the tests for it. */
import type { Fault } from './fault.ts';
import { receiverFaults } from './receiver-faults.ts';
import { serverFaults } from './server-faults.ts';

/** F1 to F24. */
export const faults: readonly Fault[] = [...serverFaults, ...receiverFaults];
