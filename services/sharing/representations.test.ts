/** The two forms of a public link, without a database. */
import { describe, expect, test } from '@jest/globals';
import { specimen } from './page/renderer-fixture.ts';
import { type Form, forms, type Opened } from './representations.ts';

const { document, organization, rows } = specimen;
const opened: Opened = { document, organization };
const changed = {
  document: { ...opened, document: { ...document, row_version: 2 } },
  'another document': { ...opened, document: { ...document, _id: 'another' } },
  organization: { ...opened, organization: { ...organization, row_version: 2 } },
};
const textOf = (form: Form, of = opened) => [...form.render(of, rows)].join('');

describe.each(Object.entries(forms))('the ETag of %s', (_name, form) => {
  test('is the same wherever it is made, and tells nothing', () => {
    expect(form.etagOf(structuredClone(opened))).toBe(form.etagOf(opened));
    expect(form.etagOf(opened)).toMatch(/^[\w-]{27}$/);
  });

  test('is of one document in one of its states', () => {
    const tags = [opened, changed.document, changed['another document']].map(form.etagOf);
    expect(new Set(tags).size).toBe(3);
  });
});

test('JSON and page have different ETags', () => {
  expect(forms.json.etagOf(opened)).not.toBe(forms.html.etagOf(opened));
});

test('the ETag of the page changes with its organization, whose name and origins it carries; that of JSON does not', () => {
  expect(forms.html.etagOf(changed.organization)).not.toBe(forms.html.etagOf(opened));
  expect(forms.json.etagOf(changed.organization)).toBe(forms.json.etagOf(opened));
});

test('the specimen that names the renderer has every element that pages know, so none can change unseen', () => {
  const page = textOf(forms.html);
  const elements =
    'h1 h2 h3 h4 h5 p ul ol li table thead tbody tr th td blockquote pre code hr br img a input strong em s u mark sub sup style';
  expect(elements.split(' ').filter((name) => !new RegExp(`<${name}[ >/]`).test(page))).toEqual([]);
  expect(JSON.parse(textOf(forms.json)).nodes[0].children[0].children).toHaveLength(1);
});
