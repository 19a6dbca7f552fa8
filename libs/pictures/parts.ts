/** What the cleaner of each format returns. */

/** The size of the upright picture in pixels, and the parts of the new file. */
export interface CleanedParts {
  width: number;
  height: number;
  parts: readonly Uint8Array[];
}
