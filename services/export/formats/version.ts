/** The versions of the formats: what was made by another one is made anew. */

/** Part of the ETag of every file: changes whenever the same document and template give other bytes. */
export const rendererVersion = '1';

/** Kept with every compiled template: changes whenever the renderer needs it in another form. */
export const compilerVersion = '1';
