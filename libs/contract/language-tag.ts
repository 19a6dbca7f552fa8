/** Validates language tags (BCP 47) and writes them in their canonical form. */
import { z } from 'zod';

/** Language, script, region and one variant. Extensions are left out: `-u-ca-…` would change the calendar of dates. */
const pattern =
  '^([A-Za-z]{2,3}|[A-Za-z]{5,8})(-[A-Za-z]{4})?(-([A-Za-z]{2}|[0-9]{3}))?(-([A-Za-z0-9]{5,8}|[0-9][A-Za-z0-9]{3}))?$';

/** A language tag in a request, e.g. `en`, `de-CH` or `zh-Hant-TW`; parsed to its canonical form. */
export const languageTag = z
  .string()
  .max(26)
  .regex(new RegExp(pattern), 'Use a language tag such as en, de-CH or zh-Hant')
  // every tag that matches the pattern is well-formed
  .transform((tag) => Intl.getCanonicalLocales(tag)[0] ?? tag)
  .meta({
    description: 'Language tag (BCP 47), e.g. `en` or `de-CH`; stored in its canonical form',
    pattern,
  });
