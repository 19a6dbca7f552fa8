/** Tests of the two representations of a public link, without a database. */
import { createHash } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { rendererFixture } from './page/renderer-fixture.ts';
import { type Representation, type ResolvedLink, representations } from './representations.ts';

const { document, organization, storedToken, rows } = rendererFixture;
const link: ResolvedLink = { document, organization, storedToken };
const changed = {
  document: { ...link, document: { ...document, row_version: 2 } },
  'another document': { ...link, document: { ...document, _id: 'another' } },
  organization: { ...link, organization: { ...organization, row_version: 2 } },
  origins: { ...link, storedToken: { allowed_origins: ['https://intranet.example'] } },
  'no origin': { ...link, storedToken: { allowed_origins: [] } },
};
const renderText = (representation: Representation) => [...representation.render(link, rows)].join('');

describe.each(Object.entries(representations))(
  'the ETag of the %s representation',
  (_name, representation) => {
    test('is the same on every replica and reveals nothing', () => {
      expect(representation.getEtag(structuredClone(link))).toBe(representation.getEtag(link));
      expect(representation.getEtag(link)).toMatch(/^[\w-]{27}$/);
    });

    test('differs between documents and between their versions', () => {
      const tags = [link, changed.document, changed['another document']].map(representation.getEtag);
      expect(new Set(tags).size).toBe(3);
    });
  },
);

test('JSON and HTML of a public link have different ETags', () => {
  expect(representations.json.getEtag(link)).not.toBe(representations.html.getEtag(link));
});

test('only the ETag of the HTML page changes with the organization', () => {
  expect(representations.html.getEtag(changed.organization)).not.toBe(representations.html.getEtag(link));
  expect(representations.json.getEtag(changed.organization)).toBe(representations.json.getEtag(link));
});

test('only the ETag of the HTML page changes with the allowed origins', () => {
  const links = [link, changed.origins, changed['no origin']];
  expect(new Set(links.map(representations.html.getEtag)).size).toBe(3);
  expect(new Set(links.map(representations.json.getEtag)).size).toBe(1);
});

test('the allowed origins of a link replace those of the organization', () => {
  const embed_origins = ['https://wiki.example'];
  const getPolicy = (one: ResolvedLink) =>
    representations.html.getHeaders({ ...one, organization: { ...organization, embed_origins } })[
      'Content-Security-Policy'
    ];
  expect(getPolicy(link)).toMatch(/; frame-ancestors https:\/\/wiki\.example$/);
  expect(getPolicy(changed.origins)).toMatch(/; frame-ancestors https:\/\/intranet\.example$/);
  expect(getPolicy(changed['no origin'])).toMatch(/; frame-ancestors 'none'$/);
});

test('the policy of a page allows its style sheets for any title', () => {
  for (const title of ['Vault', '"}</style><style>*{display:none}', 'Ü \u2028 💊 \\']) {
    const hostile = { ...link, document: { ...document, title, version: title } };
    const page = [...representations.html.render(hostile, [])].join('');
    const sheets = [...page.matchAll(/<style>(.*?)<\/style>/gs)].map(([, css = '']) => css);
    const policy = representations.html.getHeaders(hostile)['Content-Security-Policy'];
    const hashes = sheets.map((css) => `'sha256-${createHash('sha256').update(css).digest('base64')}'`);
    expect(hashes).toHaveLength(2);
    expect(policy).toContain(`style-src ${hashes.join(' ')};`);
  }
});

test('a page has the language of its document, else that of its organization', () => {
  const getRoot = (languages: [string | null | undefined, string | undefined]) => {
    const [language, fallback] = languages;
    const input = {
      document: { ...document, language },
      organization: { ...organization, language: fallback },
      storedToken,
    };
    return /<html .*?>/.exec([...representations.html.render(input, [])].join(''))?.[0];
  };
  expect(getRoot(['ar', 'de'])).toBe('<html lang="ar" dir="rtl">');
  expect(getRoot([null, 'de'])).toBe('<html lang="de" dir="ltr">');
  expect(getRoot([undefined, undefined])).toBe('<html lang="en" dir="ltr">');
});

test('the renderer fixture covers every element of the HTML page', () => {
  const page = renderText(representations.html);
  const elements =
    'h1 h2 h3 h4 h5 p ul ol li table thead tbody tr th td blockquote pre code hr br img a aside strong em s u mark sub sup style';
  expect(elements.split(' ').filter((name) => !new RegExp(`<${name}[ >/]`).test(page))).toEqual([]);
  expect(JSON.parse(renderText(representations.json)).nodes[0].children[0].children).toHaveLength(1);
});
