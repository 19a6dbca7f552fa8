/** The version of the formats: changes whenever the same document and template give other bytes. */

/** Part of the ETag of every file. */
export const rendererVersion = '1';
