/** What a fault is, and the tests that prove something about one. */

/** Tests of one file that prove something about a fault. */
export interface Proof {
  file: string;
  /** How their titles begin. */
  tests: readonly string[];
  /** Where they are declared, if not in the file itself. */
  declaredIn?: string;
}

/** A fault. */
export interface Fault {
  id: `F${number}`;
  /** What happens. */
  fault: string;
  /** What holds all the same; I1 to I6 are the promises of `checker.ts`. */
  promise: string;
  proofs: readonly Proof[];
  /** How long its proofs took when `npm run test:chaos` was run on two cores, s: those of `npm test`, and those on demand. */
  seconds: { inTests: number; onDemand: number };
}

/** Whether a proof waits for so long that `npm test` leaves it out. */
export function isOnDemand({ file }: Proof): boolean {
  return file.startsWith(onDemandFolder);
}

/** The folder of the tests that only `npm run test:chaos` runs. */
export const onDemandFolder = 'tests/chaos/on-demand/';

/** Tests that wait for long. */
export const onDemand = (name: string, ...tests: string[]): Proof => ({
  file: `${onDemandFolder}${name}.test.ts`,
  tests,
});
/** Tests of the bus over RabbitMQ. */
export const amqp = (name: string, ...tests: string[]): Proof => ({
  file: `libs/events/amqp/${name}.test.ts`,
  tests,
});
/** Tests of webhook delivery. */
export const delivery = (name: string, ...tests: string[]): Proof => ({
  file: `services/webhook-delivery/${name}.test.ts`,
  tests,
});
/** Tests of faults that `npm test` runs. */
export const chaos = (name: string, ...tests: string[]): Proof => ({
  file: `tests/chaos/${name}.test.ts`,
  tests,
});
