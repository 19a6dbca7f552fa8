/**
 * Reads and writes XML trees of the parts that the compiler changes. A round trip keeps all content, but
 * no comments and no processing instructions.
 */
import { type SaxesAttributeNS, SaxesParser } from 'saxes';
import { reject } from './fault.ts';
import { escapeXml } from './xml-text.ts';

/** An attribute: `name` as written, with its namespace `uri` and `local` name. */
export type XmlAttribute = { name: string; uri: string; local: string; value: string };

/** An element: `name` as written, with its namespace `uri` and `local` name. */
export type XmlElement = {
  name: string;
  uri: string;
  local: string;
  attributes: XmlAttribute[];
  children: XmlNode[];
};

/** Markup that is written unchanged: slots, generated markup. */
export type XmlRaw = { raw: string };

/** A node; a string is text. */
export type XmlNode = XmlElement | XmlRaw | string;

/** The remaining budget of one package. It limits memory and time regardless of declared sizes. */
export type XmlBudget = { nodes: number; bytes: number };

/**
 * Creates the budget of a package: nodes and attributes of all its trees (about 300 bytes of memory each at
 * most), and bytes of all its XML.
 */
export const createXmlBudget = (): XmlBudget => ({ nodes: 500_000, bytes: 24 * 1024 * 1024 });

const MAX_DEPTH = 256;
const MAX_ATTRIBUTES = 1_000;
const SLICE = 65_536;
/** The namespaces of XInclude 1.0, its drafts and 1.1. */
const XINCLUDE = /^https?:\/\/www\.w3\.org\/\d{4}\/XInclude\b/i;

/** Parses a part. Rejects anything but well-formed XML 1.0 without a DOCTYPE and without XInclude. */
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
  });
  const root = top.children.find(isElement);
  return root ?? reject('xml_malformed', `The part ${part} of the file is empty; save it again in Word.`);
}

/** Checks a part like `parseXml`, without building a tree. */
export function checkXml(bytes: Uint8Array, part: string, budget: XmlBudget): void {
  read(bytes, part, budget, { open() {}, close() {}, text() {} });
}

/** Serializes a tree. */
export function writeXml(root: XmlElement): Buffer {
  const out: string[] = ['<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'];
  serialize(root, out);
  return Buffer.from(out.join(''), 'utf8');
}

/** Returns true for an element, false for text and raw markup. */
export function isElement(node: XmlNode | undefined): node is XmlElement {
  return typeof node === 'object' && 'children' in node;
}

/** Binds a prefix at the root for generated markup. Rejects a part that binds it to another namespace. */
export function bindPrefix(root: XmlElement, prefix: string, uri: string, part: string): void {
  const binding = root.attributes.find((attribute) => attribute.name === `xmlns:${prefix}`);
  if (!binding) root.attributes.push({ name: `xmlns:${prefix}`, uri: '', local: prefix, value: uri });
  else if (binding.value !== uri)
    reject('xml_malformed', `The part ${part} of the file uses unusual XML prefixes; save it again in Word.`);
}

type XmlHandler = {
  open(name: string, uri: string, local: string, attributes: XmlAttribute[]): void;
  close(): void;
  text(text: string): void;
};

function rejectSize(): never {
  return reject('xml_too_large', 'The file contains too much text and markup; shorten it.');
}

function read(bytes: Uint8Array, part: string, budget: XmlBudget, reader: XmlHandler): void {
  budget.bytes -= bytes.length;
  if (budget.bytes < 0) rejectSize();
  const malformed = () =>
    reject(
      'xml_malformed',
      `The part ${part} of the file is damaged; open it in Word and save it again as .docx.`,
    );
  const parser = new SaxesParser({ xmlns: true, defaultXMLVersion: '1.0', forceXMLVersion: true });
  let depth = 0;
  let attributes = 0;
  parser.on('error', malformed);
  parser.on('doctype', () =>
    reject(
      'xml_doctype',
      `The part ${part} of the file contains a DOCTYPE; open the file in Word and save it again as .docx.`,
    ),
  );
  parser.on('xmldecl', ({ encoding }) => {
    if (encoding && !/^(utf-?8|utf-?16|us-ascii)$/i.test(encoding)) malformed();
  });
  // counted before the end of the tag, because a single tag could exhaust the memory
  parser.on('attribute', () => {
    attributes += 1;
    if (attributes > MAX_ATTRIBUTES) rejectSize();
  });
  parser.on('opentag', (tag) => {
    attributes = 0;
    depth += 1;
    if (depth > MAX_DEPTH)
      reject(
        'xml_too_deep',
        `The part ${part} of the file is nested deeper than ${MAX_DEPTH} levels; simplify it.`,
      );
    if (XINCLUDE.test(tag.uri))
      reject(
        'xml_include',
        `The part ${part} of the file includes another file (XInclude); save the file again in Word.`,
      );
    reader.open(tag.name, tag.uri, tag.local, Object.values(tag.attributes).map(toAttribute));
  });
  parser.on('closetag', () => {
    depth -= 1;
    reader.close();
  });
  parser.on('text', (text) => reader.text(text));
  parser.on('cdata', (text) => reader.text(text));
  const decoder = new TextDecoder(detectEncoding(bytes), { fatal: true });
  for (let offset = 0; offset < bytes.length; offset += SLICE)
    parser.write(decode(decoder, bytes.subarray(offset, offset + SLICE), malformed));
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
