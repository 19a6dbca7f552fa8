/** The two forms of a public link, without a database. */
import { describe, expect, test } from '@jest/globals';
import { rendererFixture } from './page/renderer-fixture.ts';
import { type Representation, type ResolvedLink, representations } from './representations.ts';

const { document, organization, rows } = rendererFixture;
const opened: ResolvedLink = { document, organization };
const changed = {
  document: { ...opened, document: { ...document, row_version: 2 } },
  'another document': { ...opened, document: { ...document, _id: 'another' } },
  organization: { ...opened, organization: { ...organization, row_version: 2 } },
};
const textOf = (form: Representation, openedLink = opened) => [...form.render(openedLink, rows)].join('');

describe.each(Object.entries(representations))('the ETag of %s', (_name, form) => {
  test('is the same wherever it is made, and tells nothing', () => {
    expect(form.getEtag(structuredClone(opened))).toBe(form.getEtag(opened));
    expect(form.getEtag(opened)).toMatch(/^[\w-]{27}$/);
  });

  test('is of one document in one of its states', () => {
    const tags = [opened, changed.document, changed['another document']].map(form.getEtag);
    expect(new Set(tags).size).toBe(3);
  });
});

test('JSON and page have different ETags', () => {
  expect(representations.json.getEtag(opened)).not.toBe(representations.html.getEtag(opened));
});

test('the ETag of the page changes with its organization, whose name and origins it carries; that of JSON does not', () => {
  expect(representations.html.getEtag(changed.organization)).not.toBe(representations.html.getEtag(opened));
  expect(representations.json.getEtag(changed.organization)).toBe(representations.json.getEtag(opened));
});

test('the specimen that names the renderer has every element that pages know, so none can change unseen', () => {
  const page = textOf(representations.html);
  const elements =
    'h1 h2 h3 h4 h5 p ul ol li table thead tbody tr th td blockquote pre code hr br img a input strong em s u mark sub sup style';
  expect(elements.split(' ').filter((name) => !new RegExp(`<${name}[ >/]`).test(page))).toEqual([]);
  expect(JSON.parse(textOf(representations.json)).nodes[0].children[0].children).toHaveLength(1);
});
