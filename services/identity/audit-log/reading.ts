/** The audit log for admins: pages of entries, and exports that can be verified. */
import { Readable } from 'node:stream';
import { z } from 'zod';
import { body, parseCursor } from '#libs/contract';
import { handle, reply, toPage } from '#libs/http';
import { exportAuditLog, listAuditLog } from '../contract.ts';
import { toCanonicalJson } from '../rules/audit-chain.ts';
import type { AuditLogRepository } from '../store/audit-log.ts';
import { csvHeader, toCsvRow } from './csv.ts';

const position = z.tuple([z.number().int()]);

/** How much text of an export is sent at once, characters. */
const chunkLength = 64 * 1024;

/** Handlers of the operations on the audit log. */
export function auditLogHandlers({ auditLog }: { auditLog: AuditLogRepository }) {
  return [
    handle(listAuditLog, async ({ actor, query }) => {
      const { limit, cursor, action, document_id, actor_id, ...range } = query;
      const [before] = parseCursor(cursor, position) ?? [];
      const filter = { action, document_id, actor_id, ...toDates(range) };
      const found = await auditLog.list(actor, filter, { before, limit: limit + 1 });
      return toPage({ found, limit, toItem: (entry) => entry, position: ({ seq }) => [seq] });
    }),

    handle(exportAuditLog, async ({ actor, query: { format, ...range } }) => {
      const entries = auditLog.read(actor, await auditLog.findRange(actor, toDates(range)));
      const lines =
        format === 'csv'
          ? toLines(entries, toCsvRow, csvHeader)
          : toLines(entries, (entry) => `${toCanonicalJson(entry)}\n`);
      const type = format === 'csv' ? 'text/csv' : 'application/jsonl';
      const headers = { 'Content-Disposition': `attachment; filename="audit-log.${format}"` };
      return reply(body(type, Readable.from(lines)), { headers });
    }),
  ];
}

function toDates({ since, until }: { since?: string | undefined; until?: string | undefined }) {
  return { ...(since && { since: new Date(since) }), ...(until && { until: new Date(until) }) };
}

/** Writes entries as text, in chunks. */
async function* toLines<Entry>(
  entries: AsyncIterable<Entry>,
  toLine: (entry: Entry) => string,
  header = '',
): AsyncGenerator<Buffer> {
  let text = header;
  for await (const entry of entries) {
    text += toLine(entry);
    if (text.length < chunkLength) continue;
    yield Buffer.from(text);
    text = '';
  }
  if (text !== '') yield Buffer.from(text);
}
