/** Splits text in any language into search words. Uses no dictionary, stemming or stop words. */

/** The maximum size of the words of one document: bytes of UTF-8, plus one byte per word. */
const maxWordBytes = 64 * 1024;

/** Longer words are truncated to this many UTF-16 code units. */
const maxWordLength = 64;

/**
 * Accents, Hebrew points, Arabic vowel signs, and soft hyphens, which readers do not see inside a word. Marks that
 * make another letter (Indic vowels, が) stay.
 */
const ignored = /[\u00ad[\p{M}&&[\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0670]]]/gv;

const wordRuns = /[\p{L}\p{M}\p{N}]+/gu;

/** Scripts that are written without spaces between words. */
const unspaced = /([\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Thai}\p{scx=Laoo}\p{scx=Khmr}\p{scx=Mymr}]+)/u;

/** Letters that Unicode does not decompose, although they are read as others with an accent or as two. */
const plainLetters: Readonly<Record<string, string>> = {
  ...{ ł: 'l', ø: 'o', đ: 'd', ð: 'd', ħ: 'h', ŧ: 't', æ: 'ae', œ: 'oe', þ: 'th' },
};
const foldedLetters = new RegExp(`[${Object.keys(plainLetters).join('')}]`, 'g');

// biome-ignore lint/suspicious/noControlCharactersInRegex: matches all of ASCII, including control characters
const ascii = /^[\x00-\x7f]*$/;

/**
 * Removes case, accents, strokes, soft hyphens and compatibility forms (UAX 15): `ÉTÉ` becomes `ete`, `Straße`
 * `strasse`, and `Łódź` `lodz`.
 */
function normalizeText(text: string): string {
  if (ascii.test(text)) return text.toLowerCase();
  const unaccented = text.normalize('NFKD').replaceAll(ignored, '');
  // ẞ, ß and ss become one form, and so do ς and σ
  const lower = unaccented.toLowerCase().toUpperCase().toLowerCase().replaceAll('ς', 'σ');
  return lower.replaceAll(foldedLetters, (letter) => plainLetters[letter] ?? letter).normalize('NFC');
}

/** Returns the sort key of a title, at most 300 characters: `Äpfel` sorts between `apple` and `Zebra`. */
export function normalizeTitle(title: string): string {
  return normalizeText(title).slice(0, 300).toWellFormed();
}

/** Returns the distinct words of a query. The list is empty if the query has only punctuation. */
export function queryTerms(query: string): string[] {
  return [
    ...new Set(splitWords(query, (characters) => (characters.length > 1 ? toPairs(characters) : characters))),
  ];
}

/** Collects the words of a document up to a size limit. */
export interface WordBag {
  /** Adds the words of a text until the bag is full. */
  add(text: string): void;
  /** Adds words of another bag until this one is full. */
  addWords(words: Iterable<string>): void;
  isFull(): boolean;
  /** The size of the words. Of a full bag, it includes words that did not fit. */
  bytes(): number;
  /** The distinct words, in the order in which they were added. */
  readonly words: ReadonlySet<string>;
}

/** Creates an empty bag that holds at most `maxBytes` of words. */
export function wordBag(maxBytes = maxWordBytes): WordBag {
  const words = new Set<string>();
  let bytes = 0;
  let isFull = false;
  const addWords = (more: Iterable<string>) => {
    for (const word of more) {
      if (words.has(word)) continue;
      bytes += Buffer.byteLength(word) + 1;
      isFull = bytes > maxBytes;
      if (isFull) return;
      words.add(word);
    }
  };
  return {
    add: (text) => addWords(splitWords(text, (characters) => [...characters, ...toPairs(characters)])),
    addWords,
    words,
    isFull: () => isFull,
    bytes: () => bytes,
  };
}

/** Returns the normalized words of a text. `cut` splits runs of characters from scripts without spaces. */
function* splitWords(text: string, cut: (characters: string[]) => readonly string[]): Iterable<string> {
  for (const run of normalizeText(text).match(wordRuns) ?? []) {
    if (!unspaced.test(run)) yield truncate(run);
    else
      for (const part of run.split(unspaced)) {
        if (unspaced.test(part)) yield* cut([...part]);
        else if (part !== '') yield truncate(part);
      }
  }
}

function truncate(word: string): string {
  return word.length > maxWordLength ? word.slice(0, maxWordLength).toWellFormed() : word;
}

/** Returns all pairs of adjacent characters. They replace words in scripts without spaces. */
function toPairs(characters: readonly string[]): string[] {
  return characters.slice(1).map((character, index) => `${characters[index]}${character}`);
}
