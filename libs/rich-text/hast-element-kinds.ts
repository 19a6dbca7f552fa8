/** Which elements of HTML are left out, are marks or are blocks. Any other element is a part of a line. */

/** What is left out, because rich text cannot contain it. */
export type HastDrop = 'script' | 'form_control' | 'embedded_content' | 'unsafe_link';

/** Elements that are left out with all that is in them. What the reader never sees is not counted. */
export const drops: Record<string, HastDrop | 'silent'> = {
  ...{ script: 'script', noscript: 'silent', style: 'silent', template: 'silent', head: 'silent' },
  ...{ input: 'form_control', button: 'form_control', select: 'form_control', textarea: 'form_control' },
  ...{ iframe: 'embedded_content', object: 'embedded_content', embed: 'embedded_content' },
  ...{ video: 'embedded_content', audio: 'embedded_content', canvas: 'embedded_content' },
  ...{ svg: 'embedded_content', frameset: 'embedded_content', annotation: 'silent' },
  ...{ 'annotation-xml': 'silent' },
};

/** Elements that are marks of the text in them. */
export const marks: Record<string, string> = {
  ...{ strong: 'bold', b: 'bold', dt: 'bold', caption: 'bold' },
  ...{ em: 'italic', i: 'italic', cite: 'italic', dfn: 'italic', var: 'italic' },
  ...{ s: 'strike', strike: 'strike', del: 'strike', u: 'underline', ins: 'underline' },
  ...{ sub: 'subscript', sup: 'superscript', mark: 'highlight' },
  ...{ code: 'code', kbd: 'code', samp: 'code', tt: 'code' },
};

/** Elements that begin and end a line, as in a browser. */
export const blockElements = new Set([
  ...['address', 'article', 'aside', 'blockquote', 'body', 'caption', 'center', 'dd', 'details'],
  ...['dialog', 'dir', 'div', 'dl', 'dt', 'fieldset', 'figcaption', 'figure', 'footer', 'form', 'h1'],
  ...['h2', 'h3', 'h4', 'h5', 'h6', 'header', 'hgroup', 'hr', 'html', 'legend', 'li', 'listing'],
  ...['main', 'marquee', 'menu', 'nav', 'ol', 'optgroup', 'option', 'p', 'plaintext', 'pre', 'search'],
  ...['section', 'summary', 'table', 'tbody', 'td', 'tfoot', 'th', 'thead', 'tr', 'ul', 'xmp'],
]);
