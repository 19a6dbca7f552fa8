/** A set for objects that come and go all the time, a few at once. */

/**
 * What a `Set` does, where thousands of objects a second are added and soon deleted. V8 gives a `Set` a new table every few additions, and each table that was given up
 * still points to the next one and to what was in it at the time: once one of them is old, every later one, with all that its objects hold, is taken
 * for alive until the old space is collected as a whole. Here nothing points to what was deleted. docs/adr/0023 has what that costs.
 */
export class SwapRemoveSet<T extends object> {
  readonly #items: T[] = [];
  /** Where each object stands is written on itself. */
  readonly #place = Symbol('place');

  add(item: T): this {
    const places = item as Record<symbol, number | undefined>;
    if (places[this.#place] === undefined) {
      places[this.#place] = this.#items.length;
      this.#items.push(item);
    }
    return this;
  }

  /** Whether it was there; the last one takes its place. */
  delete(item: T): boolean {
    const places = item as Record<symbol, number | undefined>;
    const index = places[this.#place];
    if (index === undefined) return false;
    places[this.#place] = undefined;
    const last = this.#items.pop();
    if (last !== undefined && last !== item) {
      this.#items[index] = last;
      (last as Record<symbol, number | undefined>)[this.#place] = index;
    }
    return true;
  }

  clear(): void {
    for (const item of this.#items.splice(0))
      (item as Record<symbol, number | undefined>)[this.#place] = undefined;
  }

  get size(): number {
    return this.#items.length;
  }

  /** Those that are in it now, also while some of them are deleted meanwhile. */
  [Symbol.iterator](): Iterator<T> {
    return [...this.#items][Symbol.iterator]();
  }
}
