/** A small tree over XML for the parts that the compile step rewrites; everything it reads it writes back. */
import { type SaxesAttributeNS, SaxesParser } from 'saxes';
import { reject } from './fault.ts';
import { escapeXml } from './xml-text.ts';

/** A name as written, and what it means. */
export type XmlAttribute = { name: string; uri: string; local: string; value: string };

export type XmlElement = {
  name: string;
  uri: string;
  local: string;
  attributes: XmlAttribute[];
  children: XmlNode[];
};

/** Written as it stands: comments, processing instructions, slots, markup of our own. */
export type XmlRaw = { raw: string };

export type XmlNode = XmlElement | XmlRaw | string;

/** What may still be read from one package: a bound on memory and time that declared sizes cannot lift. */
export type XmlBudget = { nodes: number; bytes: number };

/** Nodes and attributes of all trees of one package (at most about 300 bytes of memory each), and bytes of all its XML. */
export const createXmlBudget = (): XmlBudget => ({ nodes: 500_000, bytes: 24 * 1024 * 1024 });

const MAX_DEPTH = 256;
const MAX_ATTRIBUTES = 1_000;
const SLICE = 65_536;

/** The tree of a part; refuses what is no well-formed XML 1.0 without a DOCTYPE. */
export function parseXml(bytes: Uint8Array, part: string, budget: XmlBudget): XmlElement {
  const top: XmlElement = { name: '', uri: '', local: '', attributes: [], children: [] };
  const open: XmlElement[] = [top];
  const spend = (count: number) => {
    budget.nodes -= count;
    if (budget.nodes < 0) rejectSize();
  };
  const add = (node: XmlNode) => {
    spend(1);
    open.at(-1)?.children.push(node);
  };
  read(bytes, part, budget, {
    open(name, uri, local, attributes) {
      const element: XmlElement = { name, uri, local, attributes, children: [] };
      add(element);
      spend(attributes.length);
      open.push(element);
    },
    close: () => void open.pop(),
    text: (text) => {
      if (open.length > 1) add(text);
    },
    other: (raw) => {
      if (open.length > 1) add({ raw });
    },
  });
  const root = top.children.find(isElement);
  return root ?? reject('xml_malformed', `The part ${part} of the template is empty; save it again in Word.`);
}

/** Reads a part only to see that it is well-formed; nothing is kept. */
export function checkXml(bytes: Uint8Array, part: string, budget: XmlBudget): void {
  read(bytes, part, budget, { open() {}, close() {}, text() {}, other() {} });
}

/** The bytes of a part. */
export function writeXml(root: XmlElement): Buffer {
  const out: string[] = ['<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'];
  serialize(root, out);
  return Buffer.from(out.join(''), 'utf8');
}

/** Is this node an element, and not text or raw markup? */
export function isElement(node: XmlNode | undefined): node is XmlElement {
  return typeof node === 'object' && 'children' in node;
}

/** Binds a prefix at the root, so that markup of our own may use it; refuses a part that uses it otherwise. */
export function bindPrefix(root: XmlElement, prefix: string, uri: string, part: string): void {
  const bound = root.attributes.find((attribute) => attribute.name === `xmlns:${prefix}`);
  if (!bound) root.attributes.push({ name: `xmlns:${prefix}`, uri: '', local: prefix, value: uri });
  else if (bound.value !== uri)
    reject('xml_malformed', `The part ${part} of the template uses unusual names; save it again in Word.`);
}

type XmlHandler = {
  open(name: string, uri: string, local: string, attributes: XmlAttribute[]): void;
  close(): void;
  text(text: string): void;
  other(raw: string): void;
};

function rejectSize(): never {
  return reject('xml_too_large', 'The template holds too much text and markup; shorten it.');
}

function read(bytes: Uint8Array, part: string, budget: XmlBudget, reader: XmlHandler): void {
  budget.bytes -= bytes.length;
  if (budget.bytes < 0) rejectSize();
  const malformed = () =>
    reject(
      'xml_malformed',
      `The part ${part} of the template is damaged; open it in Word and save it again as .docx.`,
    );
  const parser = new SaxesParser({ xmlns: true, defaultXMLVersion: '1.0', forceXMLVersion: true });
  let depth = 0;
  let attributes = 0;
  parser.on('error', malformed);
  parser.on('doctype', () =>
    reject('xml_doctype', `The part ${part} of the template carries a DOCTYPE, which no Word file has.`),
  );
  parser.on('xmldecl', ({ encoding }) => {
    if (encoding && !/^(utf-?8|utf-?16|us-ascii)$/i.test(encoding)) malformed();
  });
  // counted while a tag is still being read: one tag could fill the memory
  parser.on('attribute', () => {
    attributes += 1;
    if (attributes > MAX_ATTRIBUTES) rejectSize();
  });
  parser.on('opentag', (tag) => {
    attributes = 0;
    depth += 1;
    if (depth > MAX_DEPTH)
      reject('xml_too_deep', `The part ${part} of the template is nested deeper than ${MAX_DEPTH} levels.`);
    reader.open(tag.name, tag.uri, tag.local, Object.values(tag.attributes).map(toAttribute));
  });
  parser.on('closetag', () => {
    depth -= 1;
    reader.close();
  });
  parser.on('text', (text) => reader.text(text));
  parser.on('cdata', (text) => reader.text(text));
  parser.on('comment', (text) => reader.other(`<!--${text}-->`));
  parser.on('processinginstruction', ({ target, body }) => reader.other(`<?${target} ${body}?>`));
  const decoder = new TextDecoder(detectEncoding(bytes), { fatal: true });
  for (let at = 0; at < bytes.length; at += SLICE)
    parser.write(decode(decoder, bytes.subarray(at, at + SLICE), malformed));
  parser.close();
}

function decode(
  decoder: InstanceType<typeof TextDecoder>,
  slice: Uint8Array,
  malformed: () => never,
): string {
  try {
    return decoder.decode(slice, { stream: true });
  } catch {
    return malformed();
  }
}

function detectEncoding(bytes: Uint8Array): string {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le';
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'utf-16be';
  return 'utf-8';
}

function toAttribute({ name, uri, local, value }: SaxesAttributeNS): XmlAttribute {
  return { name, uri, local, value };
}

function serialize(node: XmlNode, out: string[]): void {
  if (typeof node === 'string') {
    out.push(escapeXml(node));
    return;
  }
  if (!isElement(node)) {
    out.push(node.raw);
    return;
  }
  out.push('<', node.name);
  for (const { name, value } of node.attributes) out.push(' ', name, '="', escapeXml(value), '"');
  if (node.children.length === 0) {
    out.push('/>');
    return;
  }
  out.push('>');
  for (const child of node.children) serialize(child, out);
  out.push('</', node.name, '>');
}
