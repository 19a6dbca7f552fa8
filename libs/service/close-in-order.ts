/** Closes resources. A failure to close one does not leave the others open. */

/** Runs all steps one after the other, then throws the first error. */
export async function closeInOrder(steps: readonly (() => Promise<unknown>)[]): Promise<void> {
  const errors: unknown[] = [];
  for (const step of steps) await step().catch((error: unknown) => errors.push(error));
  if (errors.length > 0) throw errors[0];
}

/** Runs all steps concurrently and waits for them, then throws the first error. */
export async function closeAll(steps: readonly (() => Promise<unknown>)[]): Promise<void> {
  const results = await Promise.allSettled(steps.map((step) => step()));
  for (const result of results) if (result.status === 'rejected') throw result.reason;
}
