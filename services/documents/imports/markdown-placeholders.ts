/** Keeps text such as `<serial-no>`, which is a tag in Markdown although its author means the text. */

/** A tag without values of attributes. */
const plainTag = /<([a-z][a-z0-9-]*)(?:\s+[^\s<>="'/]+)*\s*>/gi;
const endTag = /<\/([a-z][a-z0-9-]*)/gi;

/** Elements of HTML, without those that mean nothing if they have no end, such as `time`, `title` and `label`. */
const htmlElements = new Set([
  ...['a', 'abbr', 'acronym', 'address', 'applet', 'area', 'article', 'aside', 'audio', 'b', 'base'],
  ...['basefont', 'bdi', 'bdo', 'bgsound', 'big', 'blink', 'blockquote', 'body', 'br', 'button', 'canvas'],
  ...['caption', 'center', 'cite', 'code', 'col', 'colgroup', 'datalist', 'dd', 'del', 'details', 'dfn'],
  ...['dialog', 'dir', 'div', 'dl', 'dt', 'em', 'embed', 'fieldset', 'figcaption', 'figure', 'font'],
  ...['footer', 'form', 'frame', 'frameset', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'head', 'header'],
  ...['hgroup', 'hr', 'html', 'i', 'iframe', 'img', 'input', 'ins', 'kbd', 'legend', 'li', 'link'],
  ...['listing', 'main', 'mark', 'marquee', 'math', 'menu', 'meta', 'nav', 'nobr', 'noembed', 'noframes'],
  ...['noscript', 'object', 'ol', 'optgroup', 'option', 'p', 'param', 'picture', 'plaintext', 'pre', 'q'],
  ...['rb', 'rp', 'rt', 'rtc', 'ruby', 's', 'samp', 'script', 'search', 'section', 'select', 'small'],
  ...['source', 'span', 'strike', 'strong', 'style', 'sub', 'summary', 'sup', 'svg', 'table', 'tbody'],
  ...['td', 'template', 'textarea', 'tfoot', 'th', 'thead', 'tr', 'track', 'tt', 'u', 'ul', 'var'],
  ...['video', 'wbr', 'xmp'],
]);

/** Returns the names of all end tags in a file, in lower case. */
export function findEndTags(text: string): Set<string> {
  return new Set([...text.matchAll(endTag)].map(([, name = '']) => name.toLowerCase()));
}

/** Turns the tags of unknown elements without an end into text. */
export function escapePlaceholders(html: string, endTags: ReadonlySet<string>): string {
  return html.replace(plainTag, (tag, written: string) => {
    const name = written.toLowerCase();
    return htmlElements.has(name) || endTags.has(name) ? tag : `&lt;${tag.slice(1)}`;
  });
}
