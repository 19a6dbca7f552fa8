/** Tests of the kinds and signal words of callouts. */
import { expect, test } from '@jest/globals';
import { calloutKinds, getCallout } from './callout.ts';

test('getCallout gives each kind its signal word', () => {
  const words = calloutKinds.map((kind) => getCallout({ type: 'callout', attrs: { kind } }));
  expect(words).toEqual([
    { kind: 'danger', signalWord: 'DANGER' },
    { kind: 'warning', signalWord: 'WARNING' },
    { kind: 'caution', signalWord: 'CAUTION' },
    { kind: 'note', signalWord: 'NOTE' },
  ]);
});

test('getCallout ignores case and outer white space', () => {
  expect(getCallout({ type: 'callout', attrs: { kind: ' Warning ' } }).kind).toBe('warning');
});

test.each([undefined, null, 7, '', 'tip', 'toString', '__proto__'])(
  'getCallout reads the kind %p as note',
  (kind) => {
    expect(getCallout({ type: 'callout', attrs: { kind } })).toEqual({ kind: 'note', signalWord: 'NOTE' });
    expect(getCallout({ type: 'callout' }).kind).toBe('note');
  },
);
