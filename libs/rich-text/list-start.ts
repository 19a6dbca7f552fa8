/** Limits the first number of numbered lists. */

/** The largest first number, which is that of Word. Every output begins a list with a larger one at 1. */
export const maxListStart = 32_767;
