/** The Content-Security-Policy of pages; it allows only their style sheets, their pictures and forms. */

/**
 * The policy of a page. The parameters are the sources of `style-src`, one hash for each style sheet, those of
 * `frame-ancestors`, which only a header can have, those of `form-action`, and the source of pictures that are not
 * embedded, if there are any. It has no `sandbox`: that would add no protection, and it would disable reading tools
 * such as translation.
 */
export function pagePolicy(
  styleSource: string,
  ancestors?: string,
  { formAction = "'none'", pictureSource }: { formAction?: string; pictureSource?: string | undefined } = {},
): string {
  return [
    "default-src 'none'",
    `style-src ${styleSource}`,
    pictureSource === undefined ? 'img-src data:' : `img-src data: ${pictureSource}`,
    "base-uri 'none'",
    `form-action ${formAction}`,
    ...(ancestors === undefined ? [] : [`frame-ancestors ${ancestors}`]),
  ].join('; ');
}
