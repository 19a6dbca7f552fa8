/** Tasks that run in the background and that a stop waits for. */

/** Creates an empty set of tasks. */
export function createTasks() {
  const running = new Set<Promise<void>>();
  return {
    /** Adds a running task, which must not reject. */
    add(task: Promise<void>): void {
      running.add(task);
      task.finally(() => running.delete(task));
    },

    /** Returns the number of running tasks. */
    count: () => running.size,

    /** Resolves when all tasks that are running now have ended. */
    async idle(): Promise<void> {
      await Promise.all(running);
    },
  };
}
