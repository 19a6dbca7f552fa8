/** The policy that a page is sent with: no script, no frame, no form, nothing from anywhere; only our style and carried images. */

/**
 * The `Content-Security-Policy` of a page with one style sheet, given the sources that `style-src` and `frame-ancestors` allow.
 * There is no `sandbox`: it would add nothing to this, and keep out the tools by which people read (translation, reading aids).
 */
export function pagePolicy(styleSource: string, ancestors: string): string {
  return [
    "default-src 'none'",
    `style-src ${styleSource}`,
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
    `frame-ancestors ${ancestors}`,
  ].join('; ');
}
