/** Tests that each field of Word is parsed once, however many are open around it. */
import { expect, test } from '@jest/globals';
import { w } from '#libs/opc';
import { FieldReader } from './fields.ts';

const mark = (fldCharType: string) => w('fldChar', { fldCharType });

/** Begins a field and its result. */
function openField(fields: FieldReader, code: string) {
  fields.read(mark('begin'));
  fields.addInstruction(w('instrText', {}, [code]));
  return fields.read(mark('separate'));
}

/** Runs a function, and returns how many regular expressions it searches for. */
function countSearches(run: () => void): number {
  const { exec } = RegExp.prototype;
  let count = 0;
  RegExp.prototype.exec = function (this: RegExp, text: string) {
    count += 1;
    return exec.call(this, text);
  };
  try {
    run();
  } finally {
    RegExp.prototype.exec = exec;
  }
  return count;
}

test('the number of searches grows with the fields, not with those around', () => {
  const fields = new FieldReader();
  const searches = countSearches(() => {
    for (let at = 0; at < 60; at += 1) openField(fields, `HYPERLINK "https://a.example/${at}"`);
    for (let at = 0; at < 1_000; at += 1) {
      openField(fields, 'REF a');
      fields.read(mark('end'));
    }
  });
  expect(searches).toBeGreaterThan(1_000);
  expect(searches).toBeLessThan(10 * 1_060);
  expect(fields.state).toEqual({ isCode: false, isContents: false, href: 'https://a.example/59' });
  fields.read(mark('end'));
  expect(fields.state.href).toBe('https://a.example/58');
});

test('the separator of a table of contents counts once', () => {
  const fields = new FieldReader();
  expect(openField(fields, ' TOC ')).toEqual({ contents: true });
  expect(fields.read(mark('separate'))).toEqual({});
  expect(fields.state.isContents).toBe(true);
});
