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
}

/** Whether `npm run test:chaos` runs a proof; `npm test` runs the others. */
export function isChaos({ file }: Proof): boolean {
  return file.endsWith('.chaos.test.ts');
}

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
/** Tests that kill, freeze, disconnect or overload the system. */
export const chaos = (name: string, ...tests: string[]): Proof => ({
  file: `tests/chaos/${name}.chaos.test.ts`,
  tests,
});
