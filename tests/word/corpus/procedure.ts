/** A short procedure in which every word is unique, for tests of printed pages. */
import type { RichText } from '#libs/rich-text';
import type { ExportNode, WordDocument } from '../../../services/export/formats/document.ts';
import { createRecord } from '../samples.ts';
import { bullets, li, node, numbers, p, text } from './everything.ts';

const doc = (...content: RichText[]): RichText => ({ type: 'doc', content });
const cell = (words: string) => node('tableCell', {}, p(words));
const head = (words: string) => node('tableHeader', {}, p(words));
const row = (...cells: RichText[]) => node('tableRow', {}, ...cells);

/** The expected words in order; a list item has its number, Arabic or Roman, or its letter. */
export const expectedText: readonly (string | [mark: string, word: string])[] = [
  'Alarm',
  'alphaone',
  'alphatwo',
  ['1|i', 'firstly'],
  ['2|ii', 'secondly'],
  ['1|a', 'innerly'],
  ['3|iii', 'thirdly'],
  'Calling',
  'roundone',
  'roundtwo',
  'roundthree',
  'cellone',
  'celltwo',
  'cellthree',
  'cellfour',
  'Writing',
  ['4|iv', 'fourthly'],
  ['5|v', 'fifthly'],
  ['1|i', 'anewly'],
  'quoted',
  'codeone',
  'codetwo',
  'ticked',
  'open',
  'Ending',
  'Größe',
  'omega',
  ['1|i', 'outerone'],
  ['1|i', 'boxone'],
  ['2|ii', 'boxtwo'],
  ['2|ii', 'outertwo'],
  ['1|i', 'gridone'],
  ['2|ii', 'gridtwo'],
  ['3|iii', 'outerthree'],
];

/** Creates the procedure. */
export function procedure(): WordDocument {
  const writing = createNode('sub_step', 'Writing', [
    numbers(4, li('fourthly'), li('fifthly')),
    numbers(1, li('anewly')),
    node('blockquote', {}, p('quoted')),
    node('codeBlock', {}, 'codeone\n  codetwo'),
    node('taskList', {}, task(true, 'ticked'), task(false, 'open')),
  ]);
  const calling = createNode(
    'step',
    'Calling',
    [
      bullets(li('roundone', bullets(li('roundtwo'))), li('roundthree')),
      node('table', {}, row(head('cellone'), head('celltwo')), row(cell('cellthree'), cell('cellfour'))),
    ],
    [writing],
  );
  const alarm = createNode(
    'section',
    'Alarm',
    [
      p('alphaone ', text('alphatwo', 'bold')),
      numbers(1, li('firstly'), li('secondly', numbers(1, li('innerly'))), li('thirdly')),
    ],
    [calling],
  );
  const box = node('callout', { kind: 'note' }, numbers(1, li('boxone'), li('boxtwo')));
  const grid = node('table', {}, row(node('tableCell', {}, numbers(1, li('gridone'), li('gridtwo')))));
  const nested = numbers(1, li('outerone', box), li('outertwo', grid), li('outerthree'));
  const ending = createNode('section', 'Ending', [p('Größe'), p('omega'), nested]);
  const properties = { version: '3.1', department: 'Treasury', published_at: '2026-11-21T09:30:00.000Z' };
  return {
    title: 'Titleword',
    ...properties,
    approved_at: null,
    organization: 'Aldermoor',
    record: createRecord(),
    nodes: [alarm, ending],
  };
}

function task(checked: boolean, words: string): RichText {
  return node('taskItem', { checked }, p(words));
}

function createNode(
  node_type: ExportNode['node_type'],
  title: string,
  content: RichText[],
  children: ExportNode[] = [],
): ExportNode {
  return { id: title, node_type, title, content: doc(...content), children };
}
