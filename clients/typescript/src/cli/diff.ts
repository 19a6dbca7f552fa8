/** The command that shows what changed between two versions of a document. */
import type { Diff, DiffNode } from '../generated/contract.ts';
import { command } from './command.ts';

/** Shows the differences of two versions as text. */
export const diff = command({
  name: 'docs diff',
  summary: 'Show what changed between two versions of a document',
  details: `Compares a draft with the published version, and any other version with the one before.
Deleted text is [-so-], inserted text is {+so+}.`,
  arguments: [{ name: 'id', description: 'Id of the newer version' }],
  options: {
    against: { type: 'string', value: 'ID', description: 'Id of the version to compare with' },
  },
  async run(context, { arguments: { id: doc_id }, options: { against } }) {
    const found = await (await context.client()).compareVersions({ doc_id, against });
    context.show(found, () => formatDiff(found));
    return undefined;
  },
});

const signs = { added: '+', removed: '-', changed: '~', unchanged: ' ' } as const;

function formatDiff({ from, to, fields, counts, nodes }: Diff): string {
  const toName = ({ title, version }: Diff['to']) => (version === null ? title : `${title} (${version})`);
  const changes = fields.map((one) => `${one.field}: ${one.from ?? 'none'} → ${one.to ?? 'none'}`);
  const { added, removed, changed, moved } = counts;
  return [
    `${from ? toName(from) : 'nothing'} → ${toName(to)}`,
    ...changes,
    ...nodes.flatMap(formatNode),
    `${added} added, ${removed} removed, ${changed} changed, ${moved} moved`,
  ].join('\n');
}

function formatNode({ change, moved, from, to, text, format_changed }: DiffNode): string[] {
  const { number = '', title = '' } = to ?? from ?? {};
  const notes = [
    ...(moved && from ? [`moved from ${from.number}`] : []),
    ...(format_changed ? ['format changed'] : []),
  ];
  const note = notes.length > 0 ? ` (${notes.join(', ')})` : '';
  const isRenamed = from && to && from.title !== to.title;
  const heading = `${signs[change]} ${number} ${isRenamed ? `[-${from.title}-]{+${title}+}` : title}${note}`;
  const marks = { equal: ['', ''], insert: ['{+', '+}'], delete: ['[-', '-]'] } as const;
  const edits = text.map((edit) => marks[edit.op].join(edit.text)).join('');
  return edits === '' ? [heading] : [heading, ...edits.split('\n').map((line) => `    ${line}`)];
}
