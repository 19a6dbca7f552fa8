/** The versions of renderer and compiler; output of another version is not reused. */

/** Part of every file's ETag. Change it whenever the same document and template result in other bytes. */
export const rendererVersion = '1';

/** Stored with every compiled template. Change it whenever the renderer needs another form of it. */
export const compilerVersion = '1';
