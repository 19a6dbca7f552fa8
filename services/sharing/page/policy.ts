/** The Content-Security-Policy of public pages; it allows only their style sheets, embedded images and forms. */

/**
 * The policy of a page. The parameters are the sources of `style-src`, one hash for each style sheet, those of
 * `frame-ancestors`, and those of `form-action`. It has no `sandbox`: that would add no protection, and it would
 * disable reading tools such as translation.
 */
export function pagePolicy(styleSource: string, ancestors: string, formAction = "'none'"): string {
  return [
    "default-src 'none'",
    `style-src ${styleSource}`,
    'img-src data:',
    "base-uri 'none'",
    `form-action ${formAction}`,
    `frame-ancestors ${ancestors}`,
  ].join('; ');
}
