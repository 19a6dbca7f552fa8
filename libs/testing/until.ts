/** Waits for a condition, so that tests need no fixed delays. */

/**
 * Polls every 20 ms until `poll` returns a value; rejects after `withinMs` with the description of the
 * condition.
 */
export async function until<T>(
  condition: string,
  poll: () => Promise<T | undefined | null | false>,
  withinMs = 60_000,
): Promise<T> {
  const limit = performance.now() + withinMs;
  for (;;) {
    const value = await poll();
    if (value !== undefined && value !== null && value !== false) return value;
    if (performance.now() > limit)
      throw new Error(`Timed out after ${withinMs} ms waiting for: ${condition}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
