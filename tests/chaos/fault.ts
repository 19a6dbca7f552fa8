/** The type of a fault, and of the tests that prove its guarantee. */

/** Tests in one file that prove the guarantee of a fault. */
export interface Proof {
  file: string;
  /** Beginnings of the test names. */
  tests: readonly string[];
  /** The file that declares the tests, if it is another one. */
  declaredIn?: string;
}

/** A fault and what the system guarantees under it. */
export interface Fault {
  id: `F${number}`;
  /** What happens. */
  fault: string;
  /** What the system guarantees. I1 to I6 are the invariants of `checker.ts`. */
  promise: string;
  proofs: readonly Proof[];
  /** Duration of its tests with `npm run test:chaos` on two cores, s: those in `npm test`, and those on demand. */
  seconds: { inTests: number; onDemand: number };
}

/** Whether a proof is too slow for `npm test`. */
export function isOnDemand({ file }: Proof): boolean {
  return file.startsWith(onDemandFolder);
}

/** Folder of the tests that only `npm run test:chaos` runs. */
export const onDemandFolder = 'tests/chaos/on-demand/';

/** Tests that run on demand only. */
export const onDemand = (name: string, ...tests: string[]): Proof => ({
  file: `${onDemandFolder}${name}.test.ts`,
  tests,
});
/** Tests of the event bus over RabbitMQ. */
export const amqp = (name: string, ...tests: string[]): Proof => ({
  file: `libs/events/amqp/${name}.test.ts`,
  tests,
});
/** Tests of webhook delivery. */
export const delivery = (name: string, ...tests: string[]): Proof => ({
  file: `services/webhook-delivery/${name}.test.ts`,
  tests,
});
/** Chaos tests that `npm test` runs. */
export const chaos = (name: string, ...tests: string[]): Proof => ({
  file: `tests/chaos/${name}.test.ts`,
  tests,
});
