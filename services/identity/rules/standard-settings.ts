/** What holds for an organization until it says otherwise. */
import type { Settings } from '../shapes.ts';

/** The settings that an organization starts with, and has for whatever it did not set. */
export const standardSettings: Settings = { lock_published: false, embed_origins: null };
