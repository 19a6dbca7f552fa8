/** Waits for a condition, so that tests need no fixed delays. */
import { retryForMs } from '#libs/store';

/** How many times as long as on the reference machine a wait may take; measured at the start of a test run. */
export const slowness = Number(process.env.TEST_SLOWNESS ?? 1);

/**
 * Polls every 20 ms, later every 60 ms, until `poll` returns a value. Rejects with the description of the condition
 * after `withinMs`, or later on a slow machine.
 */
export async function until<T>(
  condition: string,
  poll: () => Promise<T | undefined | null | false>,
  withinMs = 60_000,
): Promise<T> {
  const limit = performance.now() + withinMs * slowness;
  for (let pauseMs = 20; ; pauseMs = Math.min(60, pauseMs * 1.2)) {
    const value = await poll();
    if (value !== undefined && value !== null && value !== false) return value;
    if (performance.now() > limit)
      throw new Error(`Timed out after ${withinMs * slowness} ms waiting for: ${condition}`);
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}

/**
 * Repeats a request that gets 503 after the whole time for which conflicting transactions are retried. That happens on
 * a busy machine; a 503 that comes earlier is returned.
 */
export function untilServed<R extends { status: number }>(request: () => Promise<R>): Promise<R> {
  return until('a response other than 503', async () => {
    const start = performance.now();
    const response = await request();
    const isLate = performance.now() - start >= retryForMs;
    return response.status === 503 && isLate ? undefined : response;
  });
}
