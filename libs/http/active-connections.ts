/** Counts the connections that sent a request lately. */
import { performance } from 'node:perf_hooks';

/** A connection is active for one to two such times after its last request. */
const windowMs = 1_000;

/** Returns a function that records a request of a connection, and returns the number of active connections. */
export function countActiveConnections(): (connection: object) => number {
  let current = new Set<object>();
  let previous = 0;
  let since = performance.now();
  return (connection) => {
    const now = performance.now();
    if (now - since >= windowMs) {
      previous = now - since < 2 * windowMs ? current.size : 0;
      current = new Set();
      since = now;
    }
    current.add(connection);
    return Math.max(current.size, previous);
  };
}
