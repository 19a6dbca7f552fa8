/** Waits for a condition, so that tests need no fixed delays. */

/** How many times as long as on the reference machine a wait may take; measured at the start of a test run. */
export const slowness = Number(process.env.TEST_SLOWNESS ?? 1);

/**
 * Polls every 20 ms until `poll` returns a value. Rejects with the description of the condition after `withinMs`,
 * or later on a slow machine.
 */
export async function until<T>(
  condition: string,
  poll: () => Promise<T | undefined | null | false>,
  withinMs = 60_000,
): Promise<T> {
  const limit = performance.now() + withinMs * slowness;
  for (;;) {
    const value = await poll();
    if (value !== undefined && value !== null && value !== false) return value;
    if (performance.now() > limit)
      throw new Error(`Timed out after ${withinMs * slowness} ms waiting for: ${condition}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** Repeats a request that gets 503: on a busy machine, conflicting transactions can take longer than allowed. */
export async function untilServed<R extends { status: number }>(request: () => Promise<R>): Promise<R> {
  let response = await request();
  while (response.status === 503) response = await request();
  return response;
}
