/** The conformance suite of event buses, whether in one process or over a broker. */
import { describe } from '@jest/globals';
import { busDelivery } from './bus-delivery.ts';
import { busFailures } from './bus-failures.ts';
import { busFixture, type OpenBus } from './bus-fixture.ts';
import { busShutdown } from './bus-shutdown.ts';

export type { BusUnderTest, OpenBus } from './bus-fixture.ts';

/** Declares the suite for one implementation of `Bus`. */
export function busConformance(name: string, open: OpenBus): void {
  describe(`${name} conforms`, () => {
    const fixture = busFixture(open);
    busDelivery(fixture);
    busFailures(fixture);
    busShutdown(fixture);
  });
}
