/**
 * Verifies an exported audit log (format jsonl). Needs Node 24 or Deno and `audit-log.ts` beside it:
 * `node verify-audit-log.ts FILE [--hash HASH]… [--from SEQ]`
 */
import { createReadStream } from 'node:fs';
import process from 'node:process';
import { parseArgs } from 'node:util';
import { AuditLogVerificationError, verifyAuditLog } from './audit-log.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { hash: { type: 'string', multiple: true, default: [] }, from: { type: 'string' } },
});
const [file] = positionals;
if (file === undefined) throw new Error('Name the file of the export.');
try {
  const log = await verifyAuditLog(createReadStream(file), {
    knownHashes: values.hash,
    ...(values.from !== undefined && { from: Number(values.from) }),
  });
  const entries = `${log.entries} entries, ${log.first} to ${log.last}, are as exported. The newest hash is ${log.hash}`;
  process.stdout.write(`${log.entries === 0 ? 'The export has no entries.' : entries}\n`);
} catch (error) {
  if (!(error instanceof AuditLogVerificationError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}
