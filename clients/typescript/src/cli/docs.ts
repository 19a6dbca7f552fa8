/** The commands on single documents. */
import type { Client } from '../client.ts';
import type { Download } from '../download.ts';
import type { DocumentSummary, Node } from '../generated/contract.ts';
import { command } from './command.ts';
import { formatTable } from './context.ts';
import { diff } from './diff.ts';
import { CommandError, exitCodes, UsageError } from './exit-codes.ts';
import { saveDownload } from './files.ts';

const id = { name: 'id', description: 'Id of the document' } as const;
const statuses = ['draft', 'published', 'archived'] as const;

/** The options that select documents, of `docs list` and `pull`. */
export const filters = {
  status: {
    type: 'string',
    choices: statuses,
    isRepeated: true,
    description: 'Only documents with this status',
  },
  department: { type: 'string', value: 'NAME', description: 'Only documents of this department' },
  query: { type: 'string', value: 'WORDS', description: 'Only documents that contain these words' },
} as const;

/** The values of these options. */
export interface FilterValues {
  status: DocumentSummary['status'][];
  department: string | undefined;
  query: string | undefined;
}

/** Iterates over the documents that the options select. */
export function selectDocuments(
  client: Client,
  { status, department, query }: FilterValues,
): AsyncGenerator<DocumentSummary, void, undefined> {
  return client.iterate.listDocuments({
    ...(status.length > 0 && { status }),
    department,
    q: query,
  });
}

const list = command({
  name: 'docs list',
  summary: 'List documents, most recently updated first',
  details: 'Without --status, lists drafts and published documents.',
  options: { ...filters, limit: { type: 'integer', description: 'How many at most. Default: all' } },
  async run(context, { options }) {
    const documents: DocumentSummary[] = [];
    const limit = options.limit ?? Number.POSITIVE_INFINITY;
    if (limit < 1) throw new UsageError('--limit must be 1 or more.');
    for await (const document of selectDocuments(await context.client(), options)) {
      documents.push(document);
      context.progress(`${documents.length} documents`);
      if (documents.length >= limit) break;
    }
    context.show(documents, () =>
      formatTable(
        ['ID', 'STATUS', 'UPDATED', 'VERSION', 'TITLE'],
        documents.map((one) => [one.id, one.status, one.updated_at.slice(0, 16), one.version, one.title]),
      ),
    );
    return undefined;
  },
});

const get = command({
  name: 'docs get',
  summary: 'Show a document with its outline',
  details: 'With --json, prints the whole tree with the rich text.',
  arguments: [id],
  async run(context, { arguments: { id: doc_id } }) {
    const document = await (await context.client()).getDocument({ doc_id });
    context.show(document, () => {
      const { title, status, version, department, language, updated_at, nodes } = document;
      const facts = Object.entries({ status, version, department, language, updated: updated_at })
        .filter(([, value]) => value !== null)
        .map(([name, value]) => `${name}: ${value}`);
      return [title, facts.join(' · '), ...formatOutline(nodes)].join('\n');
    });
    return undefined;
  },
});

const create = command({
  name: 'docs create',
  summary: 'Create an empty draft',
  details: 'To create a document with its tree, write a file and use `pds push`.',
  arguments: [{ name: 'title', description: 'Title of the document' }],
  options: {
    version: { type: 'string', value: 'LABEL', description: 'Version label, such as 1.0' },
    department: { type: 'string', value: 'NAME', description: 'Department or team' },
    language: { type: 'string', value: 'TAG', description: 'Language tag, such as en or de-CH' },
  },
  async run(context, { arguments: { title }, options }) {
    const given = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
    const document = await (await context.client()).createDocument({ body: { title, ...given } });
    context.show(document, () => document.id);
    return undefined;
  },
});

const publish = command({
  name: 'docs publish',
  summary: 'Publish a draft',
  arguments: [id],
  async run(context, { arguments: { id: doc_id } }) {
    const document = await (await context.client()).publishDocument({ doc_id });
    context.show(document, () => `Published "${document.title}" at ${document.published_at}.`);
    return undefined;
  },
});

const revise = command({
  name: 'docs revise',
  summary: 'Create a revision draft of a published document',
  details: 'Prints the id of the draft.',
  arguments: [id],
  async run(context, { arguments: { id: doc_id } }) {
    const draft = await (await context.client()).reviseDocument({ doc_id });
    context.show(draft, () => draft.id);
    return undefined;
  },
});

const archive = command({
  name: 'docs archive',
  summary: 'Archive a published document',
  details: 'Its public link stops working. An archived document cannot be changed; use `pds docs restore`.',
  arguments: [id],
  async run(context, { arguments: { id: doc_id } }) {
    const record = await (await context.client()).archiveDocument({ doc_id });
    context.show(record, () => `Archived "${record.title}".`);
    return undefined;
  },
});

const restore = command({
  name: 'docs restore',
  summary: 'Create a draft from an archived document',
  details: 'Prints the id of the draft. It has the title, department and nodes of the archived document.',
  arguments: [id],
  async run(context, { arguments: { id: doc_id } }) {
    const draft = await (await context.client()).restoreDocument({ doc_id });
    context.show(draft, () => draft.id);
    return undefined;
  },
});

const exportFile = command({
  name: 'docs export',
  summary: 'Export a document as a Word, Markdown or HTML file',
  details: `Without --output, writes a file with the name of the document into the current folder, unless it exists.
With --output -, writes to stdout.`,
  arguments: [id],
  options: {
    format: {
      type: 'string',
      choices: ['word', 'markdown', 'html'],
      description: 'The format. Default: word',
    },
    template: {
      type: 'string',
      value: 'ID|NAME',
      description: 'The Word template. Default: the built-in one',
    },
    flavor: {
      type: 'string',
      choices: ['plain', 'gfm'],
      description: 'The kind of Markdown. Default: plain',
    },
    output: {
      type: 'string',
      value: 'FILE',
      completes: 'files',
      description: 'The file to write, or - for stdout',
    },
  },
  async run(context, { arguments: { id: doc_id }, options }) {
    const { format = 'word', template, flavor, output } = options;
    if (format !== 'markdown' && flavor !== undefined)
      throw new UsageError('--flavor needs --format markdown.');
    if (format !== 'word' && template !== undefined) throw new UsageError('--template needs --format word.');
    if (context.isJson && output === '-') throw new UsageError('--json and --output - both write to stdout.');
    const client = await context.client();
    context.progress('Exporting …');
    const file = await download(client, { doc_id, format, template, flavor });
    const path = await saveDownload(context, file, output);
    if (path !== undefined) context.show({ file: path }, () => path);
    return undefined;
  },
});

/** The commands on documents. */
export const docsCommands = [list, get, create, publish, revise, archive, restore, diff, exportFile];

interface WantedFile {
  doc_id: string;
  format: 'word' | 'markdown' | 'html';
  template: string | undefined;
  flavor: 'plain' | 'gfm' | undefined;
}

async function download(client: Client, { doc_id, format, template, flavor }: WantedFile): Promise<Download> {
  if (format === 'html') return client.exportHtml({ doc_id });
  if (format === 'markdown') return client.exportMarkdown({ doc_id, flavor });
  return client.exportWord({ doc_id, template_id: await findTemplate(client, template) });
}

async function findTemplate(client: Client, wanted: string | undefined): Promise<string> {
  if (wanted === undefined || wanted === 'default') return 'default';
  const names: string[] = [];
  const found: string[] = [];
  for await (const { id, name } of client.iterate.listTemplates()) {
    if (id === wanted) return id;
    names.push(name);
    if (name === wanted) found.push(id);
  }
  const [only, second] = found;
  if (only !== undefined && second === undefined) return only;
  throw new CommandError(
    only === undefined
      ? `There is no template "${wanted}". Use default${names.map((name) => ` or "${name}"`).join('')}.`
      : `Several templates have the name "${wanted}". Use an id: ${found.join(', ')}.`,
    only === undefined ? exitCodes.notFound : exitCodes.usage,
  );
}

function formatOutline(nodes: readonly Node[], prefix = ''): string[] {
  return nodes.flatMap(({ title, children }, at) => {
    const number = `${prefix}${at + 1}`;
    return [
      `${'  '.repeat(number.split('.').length)}${number} ${title}`,
      ...formatOutline(children, `${number}.`),
    ];
  });
}
