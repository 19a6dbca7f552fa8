/** Closes what was opened, without leaving anything open because something else would not close. */

/** Takes the steps one after the other; all of them, then throws the first error. */
export async function closeInOrder(steps: readonly (() => Promise<unknown>)[]): Promise<void> {
  const errors: unknown[] = [];
  for (const step of steps) await step().catch((error: unknown) => errors.push(error));
  if (errors.length > 0) throw errors[0];
}

/** Takes the steps at once; waits for all of them, then throws the first error. */
export async function closeAll(steps: readonly (() => Promise<unknown>)[]): Promise<void> {
  const results = await Promise.allSettled(steps.map((step) => step()));
  for (const result of results) if (result.status === 'rejected') throw result.reason;
}
