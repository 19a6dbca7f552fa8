/** What a page needs to know about the language of its document: direction, words and formats of dates. */
import { LRUCache } from 'lru-cache';
import { defaultWords, type PageWords, wordsByLanguage } from './words.ts';

/** A language of pages. */
export interface PageLanguage {
  /** The canonical BCP 47 tag, for `lang`. */
  tag: string;
  direction: 'ltr' | 'rtl';
  words: PageWords;
  /** Whether the words are English because there are none in this language. */
  hasForeignWords: boolean;
  /** Formats the day, e.g. `21 November 2026`: the month is a word, so that no reader swaps day and month. */
  formatDay(at: Date): string;
  /** Formats day and minute, e.g. `21 November 2026 at 09:30 UTC`. */
  formatMinute(at: Date): string;
}

/** The language of documents if neither they nor their organization have one. */
const defaultTag = 'en';

/** Scripts that are written from right to left. */
const rightToLeft = new Set(['Adlm', 'Arab', 'Hebr', 'Mand', 'Nkoo', 'Rohg', 'Samr', 'Syrc', 'Thaa']);

/** Creating the formats of a language takes longer than finding a document, so they are created once. */
const languages = new LRUCache<string, PageLanguage>({ max: 100 });

/** Returns the language of a page; `tag` is valid, as the contracts ensure. */
export function getPageLanguage(tag: string | null | undefined): PageLanguage {
  const known = languages.get(tag ?? defaultTag);
  if (known) return known;
  const language = createPageLanguage(tag ?? defaultTag);
  languages.set(language.tag, language);
  return language;
}

/** A text for a sentence of the page; isolated if the sentence may have another direction (UAX 9). */
export function isolate(text: string, { hasForeignWords }: PageLanguage): string {
  return hasForeignWords ? `\u2068${text}\u2069` : text;
}

function createPageLanguage(tag: string): PageLanguage {
  const locale = new Intl.Locale(tag);
  const words = wordsByLanguage.get(locale.language);
  const script = locale.maximize().script ?? '';
  const day = {
    day: 'numeric',
    month: 'long',
    year: 'numeric',
    calendar: 'gregory',
    timeZone: 'UTC',
  } as const;
  const time = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23', timeZoneName: 'short' } as const;
  const dates = chooseDateLocale(tag);
  const days = new Intl.DateTimeFormat(dates, day);
  const minutes = new Intl.DateTimeFormat(dates, { ...day, ...time });
  return {
    tag,
    direction: rightToLeft.has(script) ? 'rtl' : 'ltr',
    words: words ?? defaultWords,
    hasForeignWords: !words,
    formatDay: (at) => days.format(at),
    formatMinute: (at) => minutes.format(at),
  };
}

/** English without a region puts the day first; a language without date formats gets the English ones. */
function chooseDateLocale(tag: string): string {
  const isKnown = Intl.DateTimeFormat.supportedLocalesOf(tag).length > 0;
  return tag === 'en' || !isKnown ? 'en-GB' : tag;
}
