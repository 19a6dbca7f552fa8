/** Words: what a text is found by, in any language, without a dictionary: no stemming, no stop words. */

/** The most that is kept of the words of one document, in bytes of UTF-8 with one between two words. */
export const maxWordBytes = 64 * 1024;

/** What is kept of a word that is longer. */
const maxWordLength = 64;

/** Accents, Hebrew points and Arabic vowel signs; marks that make another letter (Indic vowels, か and が) are none. */
const accents = /[\p{M}&&[\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0670]]/gv;

const runs = /[\p{L}\p{M}\p{N}]+/gu;

/** Scripts that are written without spaces between words. */
const unspaced = /([\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Thai}\p{scx=Laoo}\p{scx=Khmr}\p{scx=Mymr}]+)/u;

// biome-ignore lint/suspicious/noControlCharactersInRegex: all of ASCII, whatever it stands for
const ascii = /^[\x00-\x7f]*$/;

/** The text without case, accents and compatibility forms (UAX 15): `ÉTÉ`, `été` and `ete` are the same, as are `STRASSE` and `Straße`. */
export function normalizeText(text: string): string {
  if (ascii.test(text)) return text.toLowerCase();
  const bare = text.normalize('NFKD').replaceAll(accents, '');
  // by way of the upper case, since some letters have two lower ones (ß and ss, ς and σ)
  return bare.toUpperCase().toLowerCase().normalize('NFC');
}

/** What titles are sorted by: folded, so that `apple`, `Äpfel` and `Zebra` follow each other; at most 300 characters. */
export function titleKey(title: string): string {
  return normalizeText(title).slice(0, 300).toWellFormed();
}

/** The words that a question names, each once; none when it has only punctuation. */
export function queryTerms(question: string): string[] {
  return [
    ...new Set(wordsIn(question, (characters) => (characters.length > 1 ? pairs(characters) : characters))),
  ];
}

/** Collects the words of a document. */
export interface WordBag {
  /** Adds the words of a text, as long as there is room. */
  add(text: string): void;
  /** Adds words of another bag, as long as there is room. */
  take(words: Iterable<string>): void;
  isFull(): boolean;
  /** Each word once, in the order in which they came. */
  readonly words: ReadonlySet<string>;
}

/** A bag that holds so many bytes of words. */
export function wordBag(maxBytes = maxWordBytes): WordBag {
  const words = new Set<string>();
  let bytes = 0;
  let isFull = false;
  const take = (more: Iterable<string>) => {
    for (const word of more) {
      if (words.has(word)) continue;
      bytes += Buffer.byteLength(word) + 1;
      isFull = bytes > maxBytes;
      if (isFull) return;
      words.add(word);
    }
  };
  return {
    add: (text) => take(wordsIn(text, (characters) => [...characters, ...pairs(characters)])),
    take,
    words,
    isFull: () => isFull,
  };
}

/** The words of a text, folded; runs of unspaced characters become what `cut` makes of them. */
function* wordsIn(text: string, cut: (characters: string[]) => readonly string[]): Iterable<string> {
  for (const run of normalizeText(text).match(runs) ?? []) {
    if (!unspaced.test(run)) yield shortened(run);
    else
      for (const part of run.split(unspaced)) {
        if (unspaced.test(part)) yield* cut([...part]);
        else if (part !== '') yield shortened(part);
      }
  }
}

function shortened(word: string): string {
  return word.length > maxWordLength ? word.slice(0, maxWordLength).toWellFormed() : word;
}

/** Neighbours in twos: where nobody marks the words, these stand for them. */
function pairs(characters: readonly string[]): string[] {
  return characters.slice(1).map((character, at) => `${characters[at]}${character}`);
}
