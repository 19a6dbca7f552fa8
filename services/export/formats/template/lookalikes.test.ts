/** Tests the warnings about text that looks like a placeholder but is none. */
import { expect, test } from '@jest/globals';
import { compile, docx, p } from '../../../../tests/word/samples.ts';

const getWarnings = async (text: string) => (await compile(docx(p(text) + p('{{content}}')))).warnings;

test.each([
  ...['{title}', '\u0024{version}', '\u0024{{title}', '{{title}', '{title}}', '{ Vertragspartner_1 }'],
  ...['{{published at}}', '{{Prüfdatum}}', '{{ title | upper }}'],
])('a template with %s gets a warning that names it', async (text) => {
  expect(await getWarnings(`Text ${text} text`)).toEqual([
    expect.stringContaining(`The text ${text} is not a placeholder and stays unchanged`),
  ]);
});

test.each(['{{title}}', '{{{title}}}', '\u0024{{title}}', '{}', '{1}', '{a; b}', '$ {', 'a } b { c'])(
  'a template with %s gets no warning',
  async (text) => {
    expect(await getWarnings(text)).toEqual([]);
  },
);

test('a template that repeats such a text gets one warning', async () => {
  expect(await getWarnings('{title} {title}')).toHaveLength(1);
});
