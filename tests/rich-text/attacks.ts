/** Strings that attack viewers of rich text, and trees that contain them; for tests only. */

import type { RichText } from '../../libs/rich-text/tree.ts';
import { doc, link, node, nodeWith, p, text } from '../fixtures/generators/rich-text.ts';
import { dataUri, png } from './sample-images.ts';

/** Strings that try to become markup, a script or a request. */
export const attacks = [
  '<script>alert(1)</script>',
  '</p><script>alert(1)</script>',
  '<img src=x onerror=alert(1)>',
  '<svg onload=alert(1)>',
  '<svg><script href="data:,alert(1)"/></svg>',
  '<iframe srcdoc="<script>alert(1)</script>">',
  '<math><mi//xlink:href="data:x,<script>alert(1)</script>">',
  '<a href="javascript:alert(1)">x</a>',
  '<style>*{background:url(//a.example)}</style>',
  '<base href="//a.example/">',
  '<meta http-equiv="refresh" content="0;url=//a.example">',
  '<form action="//a.example"><button>x',
  '<object data="data:text/html,x">',
  '<template><script>alert(1)</script></template>',
  '<noscript><p title="</noscript><img src=x onerror=alert(1)>">',
  '</title><script>alert(1)</script>',
  '</textarea><img src=x onerror=alert(1)>',
  '--><script>alert(1)</script><!--',
  ']]><script>alert(1)</script>',
  '<?xml version="1.0"?><x/>',
  '<!DOCTYPE x [<!ENTITY a "b">]>&a;',
  '<scr\0ipt>alert(1)</scr\0ipt>',
  '<\u0000script>alert(1)</script>',
  '&lt;script&gt;alert(1)&lt;/script&gt;',
  '&#60;script&#62;',
  '&#x3c;script',
  '" onmouseover="alert(1)',
  "' onmouseover='alert(1)",
  '"><script>alert(1)</script>',
  "'><script>alert(1)</script>",
  '` onmouseover=`alert(1)',
  '" style="background:url(javascript:alert(1))',
  'javascript:alert(1)',
  'JAVASCRIPT:alert(1)',
  'jav\tascript:alert(1)',
  'jav&#x09;ascript:alert(1)',
  '\u0001javascript:alert(1)',
  'javascript://a.example/%0aalert(1)',
  'vbscript:msgbox(1)',
  'data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==',
  'data:image/svg+xml;base64,PHN2ZyBvbmxvYWQ9ImFsZXJ0KDEpIi8+',
  'data:image/png;base64,x" onerror="alert(1)',
  'data:image/png;base64,iVBORw0KGgo=',
  'https://a.example/"onmouseover="alert(1)',
  "https://a.example/'><script>alert(1)</script>",
  'https://a.example/<script>',
  'mailto:"><script>alert(1)</script>@a.example',
  '{{constructor.constructor("alert(1)")()}}',
  '\u202e<script>\u2066',
  '\ud800<script>\udfff',
  '+ADw-script+AD4-alert(1)+ADw-/script+AD4-',
  '<x:script xmlns:x="http://www.w3.org/1999/xhtml">alert(1)</x:script>',
  '</style><script>alert(1)</script>',
  '<link rel="stylesheet" href="//a.example/x.css">',
  '<img src="//a.example/x.png" srcset="//a.example/y.png 2x">',
  '<video autoplay src="//a.example/x"><source src="//a.example/y"></video>',
  '<details open ontoggle=alert(1)>',
  '<input autofocus onfocus=alert(1)>',
  '__proto__',
  'constructor',
];

/** Functions that put an attack into each place where a tree can contain a string. */
export const places: Record<string, (attack: string) => RichText> = {
  'a text': (attack) => p(attack),
  'a text under marks': (attack) => p(text(attack, 'bold', 'code', link('https://a.example/'))),
  'a code block': (attack) => nodeWith('codeBlock', { language: attack }, attack),
  'a link': (attack) => p(text('x', link(attack))),
  'a link with attributes': (attack) =>
    p(
      text('x', {
        type: 'link',
        attrs: { href: 'https://a.example/', target: attack, rel: attack, class: attack },
      }),
    ),
  'a mention': (attack) => p({ type: 'mention', attrs: { id: attack, label: attack } }),
  'a formula': (attack) => doc({ type: 'blockMath', attrs: { latex: attack } }),
  'a text colour': (attack) => p(text('x', { type: 'textStyle', attrs: { color: attack } })),
  'an image': (attack) => nodeWith('image', { src: attack, alt: attack, title: attack, width: attack }),
  'attributes of an embedded image': (attack) =>
    nodeWith('image', { src: dataUri('image/png', png(1, 1)), alt: attack, title: attack, width: attack }),
  'the type of a mark': (attack) => p(text('x', { type: attack, attrs: { href: attack } })),
  'the type of a node': (attack) => doc(node(attack, p('x')), p(node(attack, 'x'))),
  'attributes of blocks': (attack) => {
    const attrs = {
      [attack]: attack,
      textAlign: attack,
      level: attack,
      start: attack,
      type: attack,
      class: attack,
    };
    const spans = {
      ...attrs,
      colspan: attack,
      rowspan: attack,
      colwidth: [attack],
      style: attack,
      onclick: attack,
    };
    return doc(
      nodeWith('heading', attrs, 'x'),
      nodeWith('callout', { ...attrs, kind: attack }, p('x')),
      nodeWith('orderedList', attrs, nodeWith('listItem', attrs, p('x'))),
      nodeWith('taskList', attrs, nodeWith('taskItem', { ...attrs, checked: attack }, p('x'))),
      nodeWith(
        'table',
        attrs,
        nodeWith('tableRow', attrs, nodeWith('tableCell', spans), nodeWith('tableHeader', spans)),
      ),
    );
  },
};
