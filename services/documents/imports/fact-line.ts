/** Reads the line of facts below the title of a Markdown export: `Version 2.1 · Department Assembly`. */
import type { HastNode } from '#libs/rich-text';
import { isHastElement, safeHref, toHastText } from '#libs/rich-text';
import { maxDepartmentLength, maxVersionLength } from '../shapes.ts';
import { isBlank } from './blank.ts';
import type { OutlineBlock } from './outline.ts';

/** What the line says; null for what it does not say. */
export interface Facts {
  version: string | null;
  department: string | null;
}

const separator = ' · ';

/** Takes the line of facts off, which follows the title directly. Blank blocks may be between them. */
export function takeFacts(blocks: OutlineBlock[]): Facts | undefined {
  const at = blocks.findIndex((block) => 'heading' in block || !isBlank([block.content]));
  const block = blocks[at];
  const facts = block && 'content' in block ? readFacts(block.content) : undefined;
  if (facts) blocks.splice(at, 1);
  return facts;
}

/** Returns the facts of a paragraph; undefined if it is not such a line. */
function readFacts(node: HastNode): Facts | undefined {
  if (!isHastElement(node) || node.tagName !== 'p') return undefined;
  if (node.children.some((child) => child.type !== 'text' && !isBareAddress(child))) return undefined;
  const line = toHastText(node).replace(/\s+/g, ' ').trim();
  const rest = line.replace(/(?:^| · )Approved \d{4}-\d\d-\d\d$/, '');
  if (rest === '') return line === '' ? undefined : { version: null, department: null };
  const at = rest.startsWith('Version ') ? rest.indexOf(`${separator}Department `) : 0;
  const version = rest.startsWith('Version ') ? rest.slice('Version '.length, at < 0 ? undefined : at) : null;
  const tail = version === null ? rest : at < 0 ? '' : rest.slice(at + separator.length);
  if (tail !== '' && !tail.startsWith('Department ')) return undefined;
  const department = tail === '' ? null : tail.slice('Department '.length);
  const isLong =
    [...(version ?? '')].length > maxVersionLength || [...(department ?? '')].length > maxDepartmentLength;
  return isLong ? undefined : { version, department };
}

/** Whether a node is a web or mail address that is written without markup: GitHub makes it a link. */
function isBareAddress(node: HastNode): boolean {
  if (!isHastElement(node) || node.tagName !== 'a') return false;
  const href = safeHref(node.properties.href);
  const text = toHastText(node);
  return href !== undefined && ['', 'http://', 'mailto:'].some((scheme) => safeHref(scheme + text) === href);
}
