/** Reads the values that switch something on or off (ECMA-376 part 1, 17.17.4). */
import type { XmlElement } from './xml.ts';

/** Whether an element switches on what it names. An element without a value does, a missing one does not. */
export function isOn(element: XmlElement | undefined): boolean {
  // the attribute has the namespace of the element, which can be one of Word's extensions
  const value = element?.attributes.find(({ local }) => local === 'val')?.value;
  return element !== undefined && isOnValue(value ?? 'on');
}

/** Whether the value of an attribute means on. */
export function isOnValue(value: string): boolean {
  return !/^(0|false|off)$/.test(value);
}
