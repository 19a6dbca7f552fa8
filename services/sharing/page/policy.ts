/** The Content-Security-Policy of public pages; it allows only their style sheets and embedded images. */

/**
 * The policy of a page; the parameters are the sources of `style-src`, one hash for each style sheet, and of
 * `frame-ancestors`. It has no `sandbox`: that would add no protection, and it would disable reading tools
 * such as translation.
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
