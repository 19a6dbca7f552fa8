/** The time limit for operations on MongoDB that must not block. */

const responseTimeoutMs = 2_000;

/** Waits for `work`. Rejects if it takes longer than two seconds. */
export async function withTimeout<T>(work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new Error(`MongoDB did not respond within ${responseTimeoutMs} ms`)),
      responseTimeoutMs,
    );
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
