/** Tests that each text colour of the page is readable on each background of text, in light and dark mode. */
import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { colorNames } from '#libs/rich-text';

const read = (name: string) => readFileSync(new URL(`${name}.css`, import.meta.url), 'utf8');
const css = `${read('base')}${read('colors')}`;

/** The values of a variable: in light mode, then in dark mode. */
function readVariable(name: string): string[] {
  return [...css.matchAll(new RegExp(`--${name}: (#[0-9a-f]{6});`, 'g'))].map(([, value = '']) => value);
}

/** The contrast of two colours (WCAG 2.2, contrast ratio). */
function getContrast(one: string, other: string): number {
  const [light = 0, dark = 0] = [one, other].map(getLuminance).sort((a, b) => b - a);
  return (light + 0.05) / (dark + 0.05);
}

function getLuminance(color: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(color.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

test.each(colorNames)('%s text is readable on every background', (name) => {
  const variable = new RegExp(`\\.color-${name} \\{\\s*color: var\\(--(\\w+)\\);`).exec(css)?.[1] ?? '';
  const colors = readVariable(variable);
  expect(colors).toHaveLength(2);
  for (const background of ['paper', 'accent-soft', 'code', 'mark']) {
    const backgrounds = readVariable(background);
    expect(backgrounds).toHaveLength(2);
    for (const [mode, color] of colors.entries())
      expect({ background, mode, isReadable: getContrast(color, backgrounds[mode] ?? '') >= 4.5 }).toEqual({
        background,
        mode,
        isReadable: true,
      });
  }
});
