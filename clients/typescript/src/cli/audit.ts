/** The commands on the audit log: list it, export it, verify an export. */
import { createReadStream } from 'node:fs';
import { resolve } from 'node:path';
import { AuditLogVerificationError, verifyAuditLog } from '../audit-log.ts';
import type { AuditAction, AuditEntry } from '../generated/contract.ts';
import { command } from './command.ts';
import { formatTable } from './context.ts';
import { CommandError, UsageError } from './exit-codes.ts';
import { saveDownload } from './files.ts';

const range = {
  since: {
    type: 'string',
    value: 'TIME',
    description: 'Only changes at this time or later, such as 2026-11-21T00:00:00Z',
  },
  until: { type: 'string', value: 'TIME', description: 'Only changes before this time' },
} as const;

const list = command({
  name: 'audit list',
  summary: 'List who changed what, newest first',
  options: {
    action: {
      ...{ type: 'string', value: 'NAME', isRepeated: true },
      description: 'Only this action, such as document.published',
    },
    document: {
      ...{ type: 'string', value: 'ID', isRepeated: true },
      description: 'Only changes of this document',
    },
    actor: { type: 'string', value: 'ID', description: 'Only changes that this member made' },
    ...range,
    limit: { type: 'integer', description: 'How many at most. Default: 20' },
  },
  async run(context, { options: { action, document, actor, since, until, limit = 20 } }) {
    if (limit < 1) throw new UsageError('--limit must be 1 or more.');
    const input = {
      // the service rejects names that are no actions
      ...(action.length > 0 && { action: action as AuditAction[] }),
      ...(document.length > 0 && { document_id: document }),
      ...(actor !== undefined && { actor_id: actor }),
      ...toRange({ since, until }),
      limit: Math.min(limit, 100),
    };
    const entries: AuditEntry[] = [];
    for await (const entry of (await context.client()).iterate.listAuditLog(input)) {
      entries.push(entry);
      if (entries.length >= limit) break;
    }
    context.show(entries, () =>
      formatTable(
        ['SEQ', 'TIME', 'ACTION', 'ACTOR', 'TARGET'],
        entries.map(({ seq, occurred_at, action: name, actor: by, target }) => [
          ...[String(seq), occurred_at.slice(0, 16), name],
          ...[by.id ?? by.type, `${target.type} ${target.id}`],
        ]),
      ),
    );
    return undefined;
  },
});

const download = command({
  name: 'audit export',
  summary: 'Export the audit log, oldest first',
  details: '`pds audit verify` verifies an export in the format jsonl.',
  options: {
    output: {
      ...{ type: 'string', value: 'FILE', completes: 'files' },
      description: 'Where to write; - is stdout. Default: audit-log.jsonl or audit-log.csv',
    },
    format: { type: 'string', choices: ['jsonl', 'csv'], description: 'Default: jsonl' },
    ...range,
  },
  async run(context, { options: { output, format = 'jsonl', since, until } }) {
    if (context.isJson && output === '-') throw new UsageError('--json and --output - both write to stdout.');
    const file = await (await context.client()).exportAuditLog({ format, ...toRange({ since, until }) });
    const path = await saveDownload(context, file, output);
    if (path !== undefined) context.show({ file: path }, () => path);
    return undefined;
  },
});

const verify = command({
  name: 'audit verify',
  summary: 'Verify an export: nothing was changed, added or left out',
  details: `Needs no key and no connection. Only a hash that you stored earlier shows that the log was not cut off or written
anew: pass it with --hash. Prints the newest hash, which you can store.`,
  arguments: [{ name: 'file', description: 'The export, in the format jsonl', completes: 'files' }],
  options: {
    hash: {
      ...{ type: 'string', value: 'HASH', isRepeated: true },
      description: 'A hash that you stored earlier; the log must contain it',
    },
    from: { type: 'integer', description: 'The seq of the first entry, 1 for a complete log' },
  },
  async run(context, { arguments: { file }, options: { hash, from } }) {
    const path = resolve(context.cwd, file);
    const checks = { knownHashes: hash, ...(from !== undefined && { from }) };
    try {
      const log = await verifyAuditLog(createReadStream(path), checks);
      context.show(log, () =>
        log.entries === 0
          ? 'The export has no entries.'
          : `${log.entries} entries, ${log.first} to ${log.last}, are as exported. The newest hash is ${log.hash}`,
      );
    } catch (error) {
      if (error instanceof AuditLogVerificationError) throw new CommandError(error.message);
      if (error instanceof Error && 'syscall' in error)
        throw new CommandError(`Cannot read ${path}: ${error.message}`);
      throw error;
    }
    return undefined;
  },
});

/** The commands on the audit log. */
export const auditCommands = [list, download, verify];

function toRange({ since, until }: { since: string | undefined; until: string | undefined }) {
  return { ...(since !== undefined && { since }), ...(until !== undefined && { until }) };
}
