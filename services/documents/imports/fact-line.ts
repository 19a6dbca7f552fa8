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
  const line = toHastText(node)
    .replace(/[^\S\u00a0]+/g, ' ')
    .trim();
  const facts = readSingleFact(line) ?? readSeveralFacts(line);
  if (!facts) return undefined;
  const { version, department } = facts;
  const isLong =
    [...(version ?? '')].length > maxVersionLength || [...(department ?? '')].length > maxDepartmentLength;
  return isLong ? undefined : facts;
}

/**
 * One fact alone could be prose, such as "Version control saves time". So the export writes a no-break space after its
 * name, unless it is a number, such as `Version 2.1`.
 */
function readSingleFact(line: string): Facts | undefined {
  const match = /^(Version|Department|Approved)\u00a0(.+)$|^(Version) (v?\d\S*)$/.exec(line);
  const name = match?.[1] ?? match?.[3];
  const value = match?.[2] ?? match?.[4] ?? '';
  if (name === 'Approved') return day.test(value) ? { version: null, department: null } : undefined;
  if (name === 'Version') return { version: value, department: null };
  return name === undefined ? undefined : { version: null, department: value };
}

const day = /^\d{4}-\d\d-\d\d$/;

const severalFacts =
  /^(?:Version (.+?))?(?:(?:^| · )Department (.+?))?((?:^| · )Approved \d{4}-\d\d-\d\d)?$/s;

function readSeveralFacts(line: string): Facts | undefined {
  const [, version, department, approved] = severalFacts.exec(line) ?? [];
  const facts = [version, department, approved].filter((fact) => fact !== undefined);
  return facts.length < 2 ? undefined : { version: version ?? null, department: department ?? null };
}

/** Whether a node is a web or mail address that is written without markup: GitHub makes it a link. */
function isBareAddress(node: HastNode): boolean {
  if (!isHastElement(node) || node.tagName !== 'a') return false;
  const href = safeHref(node.properties.href);
  const text = toHastText(node);
  return href !== undefined && ['', 'http://', 'mailto:'].some((scheme) => safeHref(scheme + text) === href);
}
