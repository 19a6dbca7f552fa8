/** Public interface of libs/opc: reads untrusted Word packages within limits, changes their XML and writes packages. */
export {
  type PackageFault,
  type PackageFaultCode,
  PackageRejected,
  packageFaultCodes,
  reject,
} from './fault.ts';
export { checkReferences, findMainPart, getBody } from './main-part.ts';
export { isOn, isOnValue } from './on-off.ts';
export { type PartSource, pack } from './pack.ts';
export {
  addPart,
  createRelsTree,
  declareRelsType,
  findRelatedPart,
  getContentType,
  getRelationships,
  type Package,
  type Relationship,
  readPackage,
  TYPES_PART,
  toRelsPart,
} from './package.ts';
export {
  attribute,
  childrenW,
  childW,
  elements,
  getText,
  isW,
  nextNumber,
  parseNumber,
  parseTwips,
  R,
  rewrite,
  valueW,
  W,
  w,
  walkElements,
} from './tree.ts';
export { hasPart, type Parts, type UnpackLimits, unpack } from './unpack.ts';
export {
  bindPrefix,
  checkXml,
  createXmlBudget,
  isElement,
  parseXml,
  writeXml,
  type XmlBudget,
  type XmlElement,
  type XmlNode,
  type XmlRaw,
} from './xml.ts';
export { escapeLine, escapeXml } from './xml-text.ts';
