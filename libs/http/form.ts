/** Parses the bodies of HTML forms (`application/x-www-form-urlencoded`). */
import { addError, checkShape, type FormBody, type InputErrors } from '#libs/contract';

/** What the parser puts in the place of bytes that are not UTF-8: another text than the one that was sent. */
const replacement = '\ufffd';

/** Returns the parsed fields. Adds errors for fields that are unknown, repeated or no UTF-8. */
export function parseForm({ form }: FormBody, bytes: Uint8Array, errors: InputErrors): unknown {
  const fields = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(Buffer.from(bytes).toString('utf8'))) {
    const path = `body/${name.slice(0, 64)}`;
    if (fields.has(name)) addError(errors, { path, message: 'Send this field only once' });
    if (value.includes(replacement))
      addError(errors, { path, message: 'Must be valid UTF-8, without U+FFFD' });
    fields.set(name, value);
  }
  return checkShape(form, Object.fromEntries(fields), 'body', errors);
}
