/** Tests of HTML files: what they say about a document, and that they allow no script and no address. */
import { expect, test } from '@jest/globals';
import { attacks } from '../../tests/rich-text/attacks.ts';
import { type FileInput, htmlFile } from './html-file.ts';
import { getPageLanguage } from './language.ts';

function render(document: object = {}, more: Partial<FileInput> = {}): string {
  const file = htmlFile({
    document: {
      ...{ title: 'Opening the vault', version: '2.1', department: 'Branches', status: 'published' },
      published_at: new Date('2026-11-21T09:30:00.000Z'),
      ...document,
    },
    children: new Map([[null, [{ _id: 'a', node_type: 'section', title: 'Keys', content: null }]]]),
    organization: 'Acme',
    control: undefined,
    language: getPageLanguage('en'),
    findPicture: () => undefined,
    meta: { generator: 'Test' },
    ...more,
  });
  return [...file].join('');
}

test('a policy allows the style sheets and pictures of a file, nothing else', () => {
  const [, policy = ''] = /http-equiv="Content-Security-Policy" content="([^"]*)"/.exec(render()) ?? [];
  expect(policy.replaceAll('&#39;', "'")).toMatch(
    /^default-src 'none'; style-src 'sha256-\S+' 'sha256-\S+'; img-src data:; base-uri 'none'; form-action 'none'$/,
  );
});

test.each([
  ['draft', 'en', '<dt>Status</dt><dd>Draft</dd>'],
  ['archived', 'fr', '<dt>Statut</dt><dd>Archivé</dd>'],
])('a file says that a document is not the published one: %s', (status, tag, fact) => {
  const published_at = null;
  const html = render({ status, published_at }, { language: getPageLanguage(tag) });
  expect(html).toContain(fact);
  expect(render()).not.toContain('<dt>Status</dt>');
});

test('a file says that it is a copy, instead of what is true of a link', () => {
  const html = render();
  expect(html.match(/This file is a copy\. It is not updated\./g)).toHaveLength(2);
  expect(html).not.toContain('latest published version');
});

test('the last line isolates its parts in a language without own words', () => {
  expect(render({}, { language: getPageLanguage('ar') })).toMatch(
    /<p>\u2068Acme\u2069 · \u2068Published: \u2068[^<]+\u2069\u2069<\/p>/,
  );
  expect(render()).toContain('<p>Acme · Published: ');
});

test('the fields of a document are in meta elements, if it has them', () => {
  const html = render({}, { meta: { generator: 'Test', 'document-version': null, other: '"><script>' } });
  expect(html).toContain('<meta name="generator" content="Test"/>');
  expect(html).toContain('<meta name="other" content="&quot;&gt;&lt;script&gt;"/>');
  expect(html).not.toContain('document-version');
});

test('no text becomes markup', () => {
  for (const attack of attacks) {
    const html = render({ title: attack, version: attack, department: attack }, { organization: attack });
    expect(html).not.toMatch(/<(script|iframe|img|svg|object|link (?!rel="icon" href="data:,"))/i);
  }
});
