/** Decides from the instruction of a Word field whether the field reaches outside the file. */

/**
 * Stands in an instruction for text that Word computes, e.g. by a nested field. XML cannot contain this character,
 * so no template can.
 */
export const computed = '\u0001';

/** Stands in an instruction for a tab or a line end. Word may read it as a space or skip it. */
export const gap = '\u0002';

/** Fields that fetch a file, start a program, control a printer or run a macro (ECMA-376 part 1, 17.16.5). */
const UNSAFE =
  /^(DDE|DDEAUTO|INCLUDE|INCLUDETEXT|INCLUDEPICTURE|IMPORT|LINK|EMBED|DATABASE|MACROBUTTON|PRINT|RD|ADDIN|CONTROL|HTMLCONTROL)$/i;

/** Returns true if a field with this instruction fetches or runs something, or if its keyword is not known. */
export function isUnsafeInstruction(instruction: string): boolean {
  return ['', ' '].some((blank) => isUnsafe(instruction.replaceAll(gap, blank)));
}

function isUnsafe(instruction: string): boolean {
  const [start = '', keyword = '', next = ''] = /^\s*([\p{L}\p{N}_]*)(.?)/su.exec(instruction) ?? [];
  if (keyword === '' && /["“”]/.test(next)) return true;
  // a computed or invisible character could continue the keyword
  if (/[^\s\x21-\x7e“”]/.test(next)) return true;
  if (/^HYPERLINK$/i.test(keyword)) return !isSafeLink(instruction.slice(start.length - next.length));
  return UNSAFE.test(keyword);
}

const tokens = /\\[a-z]|["“”][^"“”]*["“”]?|[^\s"“”]+/giu;

/** Checks the arguments of a HYPERLINK: every target must be a web or mail address. */
function isSafeLink(text: string): boolean {
  let isArgument = false;
  for (const [token] of text.matchAll(tokens)) {
    const isTarget = !isArgument && !/^\\[a-z]$/i.test(token);
    if ((isTarget || token.includes(computed)) && !isSafeTarget(token)) return false;
    if (/^\\[^losthmn]$/i.test(token)) return false;
    isArgument = !isArgument && /^\\[lost]$/i.test(token);
  }
  return true;
}

function isSafeTarget(token: string): boolean {
  return /^["“”]?\s*(https?:|mailto:)/i.test(token);
}
