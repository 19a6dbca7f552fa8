/** Returns the texts of fields of Word without a result (ECMA-376 part 1, 17.16.5). */
import { attribute, childrenW, childW, parseNumber, valueW, type XmlElement } from '#libs/opc';
import { readSymbol } from './run-content.ts';

/** Returns what Word shows for a field without a result; '' for most fields. `form` is the data of a control. */
export function getFieldText(instruction: string, form?: XmlElement): string {
  if (/^\s*FORMDROPDOWN\b/i.test(instruction)) return getChoice(childW(form, 'ddList'));
  const button = /^\s*(?:MACRO|GOTO)BUTTON\s+\S+\s+(.*)$/is.exec(instruction)?.[1];
  return button?.trim() ?? getSymbol(instruction);
}

function getChoice(list: XmlElement | undefined): string {
  const chosen = parseNumber(valueW(list, 'result') ?? valueW(list, 'default')) ?? 0;
  return attribute(childrenW(list, 'listEntry')[chosen], 'val') ?? '';
}

/** The character of a SYMBOL field. Its code is of Windows-1252 below 256, if the font is no symbol font. */
function getSymbol(instruction: string): string {
  const match = /^\s*SYMBOL\s+(0x[0-9a-f]{1,6}|\d{1,7})(.*)$/is.exec(instruction);
  if (!match) return '';
  const [code, switches] = [Number(match[1]), match[2] ?? ''];
  const font = /\\f\s+(?:"([^"]*)"|(\S+))/i.exec(switches);
  const symbol = readSymbol(font?.[1] ?? font?.[2] ?? '', code);
  if (symbol !== '' || /symbol|dings|marlett/i.test(font?.[0] ?? '')) return symbol;
  if (code < 256 && !/\\u\b/i.test(switches))
    return new TextDecoder('windows-1252').decode(Uint8Array.of(code));
  const character = code <= 0x10ffff ? String.fromCodePoint(code) : '';
  return character.isWellFormed() ? character : '';
}
