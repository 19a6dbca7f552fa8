/** Finds names and sentences that CONTRIBUTING.md rules out. Each function returns what it found, with its line. */

/** Names of types that say nothing without their noun. */
const emptyNouns = /^(Told|Said|Made|Given|Kept|Asked|Shown|Heard|Held|Begun|Running|Up|Form|Whose|Most)$/;

/** Metaphors, as whole words of a name (`openOffice`, `house-rules`) and in prose. */
const metaphors =
  'house|room|door|crew|parcel|booking|weather|twin|deaf|churn|office|floor|mailbox|misdeed|deed|crowd';

/** Words of a name that have a standard term. */
const replacedWords =
  'told|untold|said|hears|hearing|says|speaking|telling|knowing|tending|metering|heard|kept|unasked|hopeless|' +
  'poisoned|forgiven|foreseen|planted|trouble|aside|belongings|ring|pen|specimen|shipment|leftover';

const bannedInNames = new RegExp(`^(${metaphors}|${replacedWords}|wire)s?$`, 'i');

/** Functions whose names end like a participle but are verbs. */
const verbs = new Set(['embed', 'need', 'feed', 'seed', 'shed', 'proceed', 'exceed']);

const bannedInProse = new RegExp(
  [
    `\\b(${metaphors})s?\\b`,
    ...[
      'in hand',
      'in (no|its|their) hands',
      'set aside',
      'sets aside',
      'left alone',
      'is told',
      'are told',
      'was told',
    ],
    ...['goes on', 'go on', 'comes to (its|their) end'],
    ...['whoever', 'has it done', 'who waits', 'what waits'],
  ].join('|'),
  'i',
);

/** What names and prose may contain: the names of products, and code spans. */
const standardTerms = /libreOffice|Office|`[^`]*`/g;

/** A finding: the line, counted from 1, and the text. */
export interface Finding {
  line: number;
  text: string;
}

/** Declared names that are ruled out: empty nouns, metaphors, participles as functions, `…Of`, and anything named `of`. */
export function findBannedNames(text: string): Finding[] {
  return codeLines(text).flatMap(({ line, code }) => {
    const names = [...code.matchAll(/\b(?:interface|type|class|const|let|function\*?)\s+([A-Za-z_]\w*)/g)];
    const functions = [...code.matchAll(/\bfunction\*?\s+([A-Za-z_]\w*)/g)].map(([, name = '']) => name);
    const banned = names
      .map(([, name = '']) => name)
      .filter((name) => emptyNouns.test(name) || splitWords(name).some((word) => bannedInNames.test(word)));
    const participles = functions.filter((name) => /^[a-z]+ed$/.test(name) && !verbs.has(name));
    const suffixed = functions.filter((name) => /[a-z]Of$/.test(name) && !/^(is|can|has)[A-Z]/.test(name));
    const bare = /(?:[({,[]|\.\.\.|^)\s*of\s*(?:[:,)}\]=?]|=>)|\b(?:const|let) of\b/.test(code) ? ['of'] : [];
    return [...new Set([...banned, ...participles, ...suffixed, ...bare])].map((name) => ({
      line,
      text: name,
    }));
  });
}

/** Words of a file's or folder's name that are ruled out. */
export function findBannedFileWords(path: string): string[] {
  return path.split(/[/.-]/).filter((word) => bannedInNames.test(word));
}

/** Sentences of comments that contain a ruled-out word or phrase. */
export function findBannedComments(text: string): Finding[] {
  return commentLines(text).filter(({ text }) => bannedInProse.test(text.replaceAll(standardTerms, '')));
}

/** Lines of a Markdown page, outside of code, that contain a ruled-out word or phrase. */
export function findBannedProse(text: string): Finding[] {
  return proseLines(text).filter(({ text }) =>
    bannedInProse.test(text.replaceAll(standardTerms, '').replaceAll(/\([^)]*\.md[^)]*\)/g, '')),
  );
}

/** Comments and Markdown prose that are longer than 120 characters. Tables and lines with an address may be longer. */
export function findLongLines(path: string, text: string): Finding[] {
  const lines = path.endsWith('.md') ? proseLines(text) : commentLines(text);
  return lines.filter(({ text }) => text.length > 120 && !/^\s*\||https?:\/\/|─{9}/.test(text));
}

/** A test's title and its full name, which begins with the names of its groups. */
export interface TestName extends Finding {
  fullName: string;
  isGroup: boolean;
}

/** The names of all tests and groups in a file; relies on the formatter's indentation. */
export function findTestNames(text: string): TestName[] {
  const groups: { indent: number; title: string }[] = [];
  const lines = text.split('\n');
  return lines.flatMap((content, at) => {
    const indent = content.length - content.trimStart().length;
    const own =
      /^\s*(test|it|describe)(?:\.\w+)*\($|^\s*(test|it|describe)(?:\.\w+)*\((['"`])(.*?)(?<!\\)\3/.exec(
        content,
      );
    // the title of a `test.each` table follows the table
    const ofTable = /^\s*\](?: as const)?\)\((['"`])(.*?)(?<!\\)\1/.exec(content);
    const quoted = /^\s*(['"`])(.*?)(?<!\\)\1,?$/.exec(lines[at + 1] ?? '');
    const title = ofTable?.[2] ?? own?.[4] ?? (own?.[1] && quoted?.[2]);
    if (title === undefined) return [];
    while (groups.length > 0 && (groups.at(-1)?.indent ?? 0) >= indent) groups.pop();
    const fullName = [...groups.map((group) => group.title), title].join(' > ');
    const isGroup = (own?.[1] ?? own?.[2]) === 'describe';
    if (isGroup) groups.push({ indent, title });
    return [{ line: at + 1, text: title, fullName, isGroup }];
  });
}

/** What is wrong with a decision record: its title, status, date or length. */
export function findAdrFaults(text: string): string[] {
  const [, title = ''] = /^# (?:\d+[.:]? )?(.*)$/m.exec(text) ?? [];
  const words = text.split(/\s+/).filter(Boolean).length;
  return [
    ...(title === '' || title.split(' ').length > 8 ? [`title "${title}" has to be 1 to 8 words`] : []),
    ...(/^Status: (proposed|accepted|superseded by ADR \d+|deprecated)$/m.test(text) ? [] : ['no status']),
    ...(/^Date: \d{4}-\d{2}-\d{2}$/m.test(text) ? [] : ['no date']),
    ...(words > 250 ? [`${words} words`] : []),
  ];
}

function splitWords(name: string): string[] {
  return name.replace(/libreOffice/i, '').split(/(?<=[a-z0-9])(?=[A-Z])|_/);
}

/** The code of each line, without comments and the contents of plain strings. */
function codeLines(text: string): { line: number; code: string }[] {
  const withoutBlocks = text.replaceAll(/\/\*[\s\S]*?\*\//g, (comment) => comment.replaceAll(/[^\n]/g, ' '));
  return withoutBlocks.split('\n').map((content, at) => ({
    line: at + 1,
    code: content
      .replaceAll(/'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`[^`]*`/g, "''")
      .replace(/(^|\s)\/\/.*$/, ''),
  }));
}

function commentLines(text: string): Finding[] {
  let isInBlock = false;
  return text.split('\n').flatMap((content, at) => {
    const opens = /^\s*\/\*/.test(content);
    const isComment = isInBlock || opens || /^\s*\/\//.test(content);
    if (opens) isInBlock = true;
    if (content.includes('*/')) isInBlock = false;
    return isComment ? [{ line: at + 1, text: content }] : [];
  });
}

function proseLines(text: string): Finding[] {
  let isCode = false;
  return text.split('\n').flatMap((content, at) => {
    if (/^\s*```/.test(content)) isCode = !isCode;
    return isCode ? [] : [{ line: at + 1, text: content }];
  });
}
