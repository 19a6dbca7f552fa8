/** One suite for every bus: what carries events between services must keep these promises, in a process or over a broker. */
import { describe } from '@jest/globals';
import { busDelivery } from './bus-delivery.ts';
import { busFailures } from './bus-failures.ts';
import { busFixture, type OpenBus } from './bus-fixture.ts';
import { busShutdown } from './bus-shutdown.ts';

export type { BusUnderTest, OpenBus } from './bus-fixture.ts';

/** Declares the suite for one kind of bus. */
export function busConformance(name: string, open: OpenBus): void {
  describe(`${name} keeps the promises of a bus`, () => {
    const stage = busFixture(open);
    busDelivery(stage);
    busFailures(stage);
    busShutdown(stage);
  });
}
