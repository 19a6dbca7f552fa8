/** Reads the HTML that mammoth writes. It is well-formed XML, which takes a fraction of the time of parsing HTML. */
import type { Element, Root } from 'hast';
import { createXmlBudget, isElement, parseXml, type XmlElement } from '#libs/opc';

/** The names of properties in the tree that differ from those of attributes. */
const propertyNames: Record<string, string> = { colspan: 'colSpan', rowspan: 'rowSpan' };

/** Enough for the result of any file within the limits of an import. */
const limits = { nodes: 2_000_000, bytes: 128 * 1024 * 1024 };

/** Returns the tree. */
export function parseMammothHtml(html: string): Root {
  const bytes = Buffer.from(`<body>${html}</body>`, 'utf8');
  const body = parseXml(bytes, 'html', { ...createXmlBudget(), ...limits });
  return { type: 'root', children: toChildren(body) };
}

function toChildren({ children }: XmlElement): Element['children'] {
  return children.flatMap((child): Element['children'] => {
    if (typeof child === 'string') return [{ type: 'text', value: child }];
    return isElement(child) ? [toElement(child)] : [];
  });
}

function toElement(element: XmlElement): Element {
  const properties: Element['properties'] = {};
  for (const { name, value } of element.attributes) {
    if (name === 'class') properties.className = value.split(' ');
    else properties[propertyNames[name] ?? name] = value;
  }
  return { type: 'element', tagName: element.local, properties, children: toChildren(element) };
}
