/** The version of the renderer; files of another version are not reused. */

/** Part of every file's ETag. Change it whenever the same document and template result in other bytes. */
export const rendererVersion = '14';
