/** Default settings of organizations. */
import type { Settings } from '../shapes.ts';

/** The settings of a new organization, and the defaults of settings that an organization has not set. */
export const defaultSettings: Settings = {
  lock_published: false,
  approval_required: false,
  show_control: false,
  embed_origins: null,
  language: 'en',
};
