/** Compares texts word by word, within limits that count edits and not time, so that a result never varies. */
import { type ChangeObject, diffArrays } from 'diff';
import type { TextEdit } from '../contract/comparing.ts';

/**
 * The maximum number of edits in a text: words, white space and other characters that are inserted or deleted. Within
 * this limit, the longest texts of a node take 40 ms of CPU time.
 */
export const maxTextEdits = 500;
/** The maximum number of edits in all texts of a comparison. */
export const maxAllEdits = 20_000;

/** A letter of a script that does not separate words. It counts as a word. */
const letterWord = ['Han', 'Hiragana', 'Katakana', 'Thai', 'Lao', 'Khmer', 'Myanmar']
  .map((script) => `\\p{Script=${script}}`)
  .join('');
/** A run of white space, a word, or any other character. */
const word = new RegExp(`\\s+|[${letterWord}]\\p{M}*|(?:(?![${letterWord}])[\\p{L}\\p{N}\\p{M}_])+|.`, 'gsu');

/** Compares the texts of one comparison. */
export interface WordDiff {
  /** Returns the edits from one text to another; none if they are equal. A deletion precedes an insertion. */
  compare(from: string, to: string): TextEdit[];
}

/** Starts a comparison, whose texts share the limit of all edits. */
export function startWordDiff(): WordDiff {
  let left = maxAllEdits;
  return {
    compare(from, to) {
      if (from === to) return [];
      const limit = Math.min(maxTextEdits, left);
      // undefined if there are more edits
      const changes =
        limit > 0 ? diffArrays(splitWords(from), splitWords(to), { maxEditLength: limit }) : undefined;
      // a text above the limit has cost the time of as many edits
      left -= changes ? countEdits(changes) : limit;
      if (!changes) return replaceText(from, to);
      return mergeEdits(changes.map(({ value, ...change }) => [toOperator(change), value.join('')]));
    },
  };
}

/** Returns the deletion of a text and the insertion of another one. */
export function replaceText(from: string, to: string): TextEdit[] {
  return mergeEdits([
    ['delete', from],
    ['insert', to],
  ]);
}

/** Returns the edits that lead from the second text to the first. */
export function reverseEdits(edits: readonly TextEdit[]): TextEdit[] {
  return mergeEdits(edits.map(({ op, text }) => [reversed[op], text]));
}

type Operator = TextEdit['op'];
const reversed: Record<Operator, Operator> = { equal: 'equal', insert: 'delete', delete: 'insert' };

function splitWords(text: string): string[] {
  return text.match(word) ?? [];
}

function countEdits(changes: readonly ChangeObject<string[]>[]): number {
  return changes.reduce((sum, { added, removed, count }) => sum + (added || removed ? count : 0), 0);
}

function toOperator({ added, removed }: Pick<ChangeObject<unknown>, 'added' | 'removed'>): Operator {
  if (added) return 'insert';
  return removed ? 'delete' : 'equal';
}

/** Merges all deletions between two equal texts, and all insertions. */
function mergeEdits(edits: readonly (readonly [Operator, string])[]): TextEdit[] {
  const merged: TextEdit[] = [];
  let [deleted, inserted] = ['', ''];
  const flush = () => {
    if (deleted !== '') merged.push({ op: 'delete', text: deleted });
    if (inserted !== '') merged.push({ op: 'insert', text: inserted });
    [deleted, inserted] = ['', ''];
  };
  for (const [op, text] of edits) {
    if (op === 'delete') deleted += text;
    else if (op === 'insert') inserted += text;
    else {
      flush();
      merged.push({ op, text });
    }
  }
  flush();
  return merged;
}
