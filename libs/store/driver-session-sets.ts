/**
 * Replaces the MongoDB driver's sets of sessions and cursors, which change with every command: ended sessions and
 * cursors stay reachable from tables that a `Set` has given up, so they accumulate in V8's old space, and collecting
 * them delays webhooks and requests. No upstream issue describes it. Delete this file when the goals of the benchmark
 * for webhooks are met without it. See docs/adr/0023 and docs/adr/0030.
 */
import { SwapRemoveSet } from './swap-remove-set.ts';

/** Replaces the sets of one client, right after it has connected. */
export function replaceSessionSets(client: object): void {
  // the driver's internals have no types: it adds to these sets, deletes, clears and iterates them
  const { s } = client as { s: { activeSessions: Iterable<object>; activeCursors: Iterable<object> } };
  for (const name of ['activeSessions', 'activeCursors'] as const) {
    const set = new SwapRemoveSet();
    for (const item of s[name]) set.add(item);
    s[name] = set;
  }
}
