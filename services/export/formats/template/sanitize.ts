/** Removes from a template what refers to external resources or runs something, with a warning for each. */
import {
  isW,
  type Package,
  R,
  type Relationship,
  rewrite,
  W,
  type XmlElement,
  type XmlNode,
} from '#libs/opc';
import { sanitizeFields } from './fields.ts';

const VML = 'urn:schemas-microsoft-com:vml';
/** What Office adds to VML, with the prefix `o`. */
const VML_EXTENSIONS = 'urn:schemas-microsoft-com:office:office';

const REMOVED = new Map<string, string>(
  Object.entries({
    attachedTemplate: 'The link to another template was removed; the styles in this file are used.',
    control: 'An ActiveX control was removed.',
    activeXControlBinary: 'An ActiveX control was removed.',
    oleObject: 'An embedded object was removed; its picture stays.',
    package: 'An embedded file was removed; its picture stays.',
    aFChunk: 'An embedded file (altChunk) was removed.',
    subDocument: 'A linked sub-document was removed.',
    mailMergeSource: 'The mail merge data source was removed.',
    mailMergeHeaderSource: 'The mail merge data source was removed.',
    recipientData: 'The mail merge data source was removed.',
    webextensiontaskpanes: 'An Office add-in was removed.',
    webextension: 'An Office add-in was removed.',
    extensibility: 'A custom ribbon was removed.',
    attachedToolbars: 'A custom toolbar was removed.',
    keyMapCustomizations: 'Custom keyboard shortcuts were removed.',
    origin: 'The digital signature was removed, because each export is a new file.',
  }),
);

const LINKED_PICTURE =
  'A picture that is linked, not embedded, was removed; embed it in the template instead.';
const LINK = 'A link to something other than a web or mail address was removed; its text stays.';
const OTHER = 'A reference to something outside the file was removed.';

/** Drops unsafe relationships of all parts; returns the dropped ids by part. */
export function dropRelationships(pkg: Package, warn: (text: string) => void): Map<string, Set<string>> {
  const dropped = new Map<string, Set<string>>();
  for (const [source, relationships] of pkg.relationships) {
    const droppedIds = new Set<string>();
    const remaining = relationships.filter((relationship) => {
      const warning = getWarning(relationship);
      if (warning === undefined) return true;
      warn(warning);
      droppedIds.add(relationship.id);
      return false;
    });
    if (droppedIds.size === 0) continue;
    dropped.set(source, droppedIds);
    pkg.relationships.set(source, remaining);
  }
  return dropped;
}

/** Removes from a part's tree what uses a dropped relationship, and fields that fetch or run something. */
export function sanitize(root: XmlElement, dropped: Set<string>, warn: (text: string) => void): void {
  let isPictureEmpty = false;
  sanitizeFields(root, warn);
  rewrite(root, (element) => {
    if (isW(element, 'drawing', 'pict', 'object') && isPictureEmpty) {
      isPictureEmpty = false;
      return [];
    }
    if (isW(element, 'mailMerge')) {
      warn('The mail merge data source was removed.');
      return [];
    }
    dropLinks(element, warn);
    const isDropped = element.attributes.some(({ uri, value }) => uri === R && dropped.has(value));
    if (!isDropped) return [toPicture(element)];
    const { rest, isEmpty } = removeReference(element, dropped);
    isPictureEmpty ||= isEmpty;
    return rest;
  });
}

function getWarning({ type, external, target }: Relationship): string | undefined {
  const warning = REMOVED.get(type);
  if (warning || !external) return warning;
  if (type === 'hyperlink') return /^(https?:|mailto:|#)/i.test(target.trim()) ? undefined : LINK;
  return type === 'image' ? LINKED_PICTURE : OTHER;
}

/** Removes a dropped reference; returns what remains and whether the enclosing picture is now empty. */
function removeReference(element: XmlElement, dropped: Set<string>): { rest: XmlNode[]; isEmpty: boolean } {
  if (isW(element, 'hyperlink')) return { rest: element.children, isEmpty: false };
  if (element.local !== 'blip' && element.local !== 'imagedata') return { rest: [], isEmpty: false };
  element.attributes = element.attributes.filter(({ uri, value }) => uri !== R || !dropped.has(value));
  return { rest: [element], isEmpty: !element.attributes.some(({ uri }) => uri === R) };
}

/** Turns an object without its embedded file into a picture. */
function toPicture(element: XmlElement): XmlElement {
  if (!isW(element, 'object')) return element;
  const isLive = element.children.some(
    (child) =>
      typeof child === 'object' && 'uri' in child && (child.uri === VML_EXTENSIONS || isW(child, 'control')),
  );
  if (isLive) return element;
  const prefix = element.name.slice(0, element.name.indexOf(':') + 1);
  return { name: `${prefix}pict`, uri: W, local: 'pict', attributes: [], children: element.children };
}

/** Removes the addresses of pictures from VML, and from attributes of Office: `o:href` and `o:althref`. */
function dropLinks(element: XmlElement, warn: (text: string) => void): void {
  const isVml = element.uri === VML;
  const isLink = ({ uri, local, value }: XmlElement['attributes'][number]) =>
    (uri === VML_EXTENSIONS && /^(alt)?href$/i.test(local)) ||
    (isVml && uri === '' && local === 'src' && value !== '') ||
    (isVml && uri === '' && local === 'href' && !/^(https?:|mailto:|#)/i.test(value));
  if (!element.attributes.some(isLink)) return;
  element.attributes = element.attributes.filter((found) => !isLink(found));
  warn(LINKED_PICTURE);
}
