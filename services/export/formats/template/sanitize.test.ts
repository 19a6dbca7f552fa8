/** Tests external references: they are removed with a warning, and visible content stays. */
import { expect, test } from '@jest/globals';
import {
  compile,
  createDocument,
  docx,
  getText,
  p,
  R,
  rels,
  renderParts,
  types,
  W,
  WORD_TYPE,
} from '../../../../tests/word/samples.ts';

async function compileAndRender(
  inner: string,
  links: [string, string, string, string?][],
  more: Record<string, string> = {},
) {
  const file = docx(inner + p('{{content}}'), { 'word/_rels/document.xml.rels': rels(...links), ...more });
  const template = await compile(file);
  const found = await renderParts(createDocument(), template);
  return {
    found,
    xml: found['word/document.xml'] ?? '',
    text: getText(found['word/document.xml']),
    warnings: template.warnings,
  };
}

const hyperlink = '<w:p><w:hyperlink r:id="rId1"><w:r><w:t>here</w:t></w:r></w:hyperlink></w:p>';
const blip = (attributes: string) =>
  `<w:p><w:r><w:t>a</w:t><w:drawing><a:blip xmlns:a="urn:a" ${attributes}/></w:drawing></w:r></w:p>`;

test.each(['file:///etc/passwd', 'javascript:alert(1)', '\\\\server\\share', 'ms-word:ofe|u|http://a'])(
  'an unsafe template link to %s is replaced by its text',
  async (target) => {
    const { found, xml, text, warnings } = await compileAndRender(hyperlink, [
      ['rId1', 'hyperlink', target, 'External'],
    ]);
    expect(xml).not.toContain('w:hyperlink');
    expect(text).toBe('here');
    expect(found['word/_rels/document.xml.rels']).not.toContain('External');
    expect(warnings).toEqual([expect.stringContaining('its text stays')]);
  },
);

test.each(['https://a.example', 'mailto:a@b.example'])('a template link to %s stays', async (target) => {
  const { found, xml, warnings } = await compileAndRender(hyperlink, [
    ['rId1', 'hyperlink', target, 'External'],
  ]);
  expect(xml).toContain('<w:hyperlink r:id="rId1">');
  expect(found['word/_rels/document.xml.rels']).toContain(target);
  expect(warnings).toEqual([]);
});

test('a linked picture is removed, an embedded one loses its link', async () => {
  const link: [string, string, string, string] = [
    'rId1',
    'image',
    'http://tracker.example/a.png',
    'External',
  ];
  const linked = await compileAndRender(blip('r:link="rId1"'), [link]);
  expect(linked.xml).not.toContain('w:drawing');
  expect(linked.text).toBe('a');
  expect(linked.warnings).toEqual([expect.stringContaining('linked, not embedded')]);
  const more = { 'word/a.png': 'x' };
  const embedded = await compileAndRender(
    blip('r:embed="rId2" r:link="rId1"'),
    [link, ['rId2', 'image', 'a.png']],
    more,
  );
  expect(embedded.xml).toContain('r:embed="rId2"/>');
  expect(embedded.found['word/_rels/document.xml.rels']).not.toContain('tracker');
});

test('a VML picture with an external address loses it', async () => {
  const { xml } = await compileAndRender(
    '<w:p><w:r><w:pict><v:imagedata xmlns:v="urn:schemas-microsoft-com:vml" src="http://t.example/a.png"/></w:pict></w:r></w:p>',
    [],
  );
  expect(xml).not.toContain('t.example');
});

test('a VML picture loses the alternative address of its picture', async () => {
  const { xml, warnings } = await compileAndRender(
    '<w:p><w:r><w:pict><v:imagedata xmlns:v="urn:schemas-microsoft-com:vml" r:id="rId2" ' +
      'xmlns:x="urn:schemas-microsoft-com:office:office" x:althref="http://t.example/a.pict"/></w:pict></w:r></w:p>',
    [['rId2', 'image', 'a.png']],
    { 'word/a.png': 'x' },
  );
  expect(xml).toContain('r:id="rId2"');
  expect(xml).not.toContain('t.example');
  expect(warnings).toEqual([expect.stringContaining('linked')]);
});

test('a part is sanitized if its content type has upper-case letters', async () => {
  const comments = `<w:comments xmlns:w="${W}"><w:comment>${p('a')}<w:p><w:fldSimple w:instr="DDE a b"/></w:p></w:comment></w:comments>`;
  const { found } = await compileAndRender('', [['rId1', 'comments', 'comments.xml']], {
    '[Content_Types].xml': types({ '/word/comments.xml': `${WORD_TYPE.toUpperCase()}.COMMENTS+XML` }),
    'word/comments.xml': comments,
  });
  expect(found['word/comments.xml']).not.toContain('DDE');
});

test('an embedded object is replaced by its picture', async () => {
  const object =
    '<w:p><w:r><w:object><v:shape xmlns:v="urn:schemas-microsoft-com:vml"><v:imagedata r:id="rId2"/></v:shape>' +
    '<o:OLEObject xmlns:o="urn:schemas-microsoft-com:office:office" r:id="rId1"/></w:object></w:r></w:p>';
  const { found, xml, warnings } = await compileAndRender(
    object,
    [
      ['rId1', 'oleObject', 'a.bin'],
      ['rId2', 'image', 'a.png'],
    ],
    { 'word/a.bin': 'x', 'word/a.png': 'x' },
  );
  expect(xml).toMatch(/<w:pict><v:shape.*<\/v:shape><\/w:pict>/);
  expect(xml).not.toContain('OLEObject');
  expect(Object.keys(found)).not.toContain('word/a.bin');
  expect(warnings).toEqual(['An embedded object was removed; its picture stays.']);
});

test.each([
  ['control', '<w:p><w:r><w:object><w:control r:id="rId1"/></w:object></w:r></w:p>', 'w:control', 'ActiveX'],
  ['aFChunk', '<w:altChunk r:id="rId1"/>', 'altChunk', 'altChunk'],
  ['subDocument', '<w:p><w:subDoc r:id="rId1"/></w:p>', 'subDoc', 'sub-document'],
])('a part of type %s is removed with a warning', async (type, inner, name, warning) => {
  const { found, xml, warnings } = await compileAndRender(inner, [['rId1', type, 'a.bin']], {
    'word/a.bin': 'x',
  });
  expect(xml).not.toContain(name);
  expect(Object.keys(found)).not.toContain('word/a.bin');
  expect(warnings).toEqual([expect.stringContaining(warning)]);
});

test('an attached template and a mail merge are removed from settings', async () => {
  const settings = `<w:settings xmlns:w="${W}" xmlns:r="${R}"><w:zoom w:percent="80"/><w:attachedTemplate r:id="rId1"/><w:mailMerge><w:query w:val="SELECT"/></w:mailMerge></w:settings>`;
  const { found, warnings } = await compileAndRender('', [['rId9', 'settings', 'settings.xml']], {
    '[Content_Types].xml': types({ '/word/settings.xml': `${WORD_TYPE}.settings+xml` }),
    'word/settings.xml': settings,
    'word/_rels/settings.xml.rels': rels([
      'rId1',
      'attachedTemplate',
      'file://server/normal.dotm',
      'External',
    ]),
  });
  expect(found['word/settings.xml']).toMatch(/<w:settings [^>]*><w:zoom w:percent="80"\/><\/w:settings>/);
  expect(warnings).toEqual([
    expect.stringContaining('another template'),
    expect.stringContaining('mail merge'),
  ]);
});

test.each([
  'http://schemas.microsoft.com/office/2011/relationships/webextensiontaskpanes',
  'http://schemas.openxmlformats.org/package/2006/relationships/digital-signature/origin',
])('the relationship %s is removed from the package', async (type) => {
  const { found } = await compileAndRender('', [], {
    '_rels/.rels': rels(['rId1', 'officeDocument', 'word/document.xml'], ['rId2', type, 'extra.xml']),
    'extra.xml': '<a/>',
  });
  expect(Object.keys(found)).not.toContain('extra.xml');
});
