/** A set for short-lived objects, of which it contains few at a time. */

/**
 * A replacement for `Set` if thousands of objects per second are added and soon deleted. Deleting moves the
 * last object into the gap, so the order is not kept. V8 reallocates a `Set`'s hash table every few
 * insertions. A discarded table still references its successor, so once one table has been promoted to the
 * old generation it keeps all later tables, and everything in them, alive until the next full GC. This set
 * has no such references. See docs/adr/0023.
 */
export class SwapRemoveSet<T extends object> {
  readonly #items: T[] = [];
  /** The property of each object that stores its index. */
  readonly #index = Symbol('index');

  add(item: T): this {
    const indexes = item as Record<symbol, number | undefined>;
    if (indexes[this.#index] === undefined) {
      indexes[this.#index] = this.#items.length;
      this.#items.push(item);
    }
    return this;
  }

  /** Deletes an object and moves the last one into its place. Returns whether the object was in the set. */
  delete(item: T): boolean {
    const indexes = item as Record<symbol, number | undefined>;
    const index = indexes[this.#index];
    if (index === undefined) return false;
    indexes[this.#index] = undefined;
    const last = this.#items.pop();
    if (last !== undefined && last !== item) {
      this.#items[index] = last;
      (last as Record<symbol, number | undefined>)[this.#index] = index;
    }
    return true;
  }

  clear(): void {
    for (const item of this.#items.splice(0))
      (item as Record<symbol, number | undefined>)[this.#index] = undefined;
  }

  get size(): number {
    return this.#items.length;
  }

  /** Iterates over the current objects, including those that are deleted during the iteration. */
  [Symbol.iterator](): Iterator<T> {
    return [...this.#items][Symbol.iterator]();
  }
}
