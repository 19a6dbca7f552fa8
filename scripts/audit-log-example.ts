/** A short audit log that is always the same, for the docs and for tests of the programs that verify logs. */
import {
  type AuditHead,
  chainEntry,
  emptyLog,
  toCanonicalJson,
} from '../services/identity/rules/audit-chain.ts';

const toId = (number: number) => `0199c2a4-6f80-7000-8000-${String(number).padStart(12, '0')}`;
const [ada, key, document] = [toId(1), toId(2), toId(3)];
const changes = [
  ['api_key.created', 'api_key', key, { member_id: ada, role: 'admin', expires_at: null }],
  [
    'document.published',
    'document',
    document,
    { title: 'Closing the vault', version: '1.0', content_hash: null },
  ],
  [
    'document.edited',
    'document',
    document,
    { title: 'Schließfach 🔑 "öffnen"', version: '1.0', content_hash: null },
  ],
  ['member.updated', 'member', toId(4), { before: { role: 'member' }, after: { role: 'admin' } }],
  [
    'document.archived',
    'document',
    document,
    { title: '\t= Schließfach \\', version: null, content_hash: null },
  ],
  ['organization.plan_changed', 'organization', toId(0), { before: 'trial', after: 'scale' }],
] as const;

/** Returns the export of the log in the format `jsonl`. */
export function auditLogExample(): string {
  let head: AuditHead = emptyLog;
  const lines = changes.map(([action, type, id, details], at) => {
    const isOperator = action === 'organization.plan_changed';
    const entry = chainEntry(head, {
      ...{
        id: toId(100 + at),
        organization_id: toId(0),
        occurred_at: `2026-11-21T09:30:0${at}.000Z`,
        action,
      },
      actor: isOperator ? { type: 'operator', id: null } : { type: 'member', id: ada },
      api_key_id: type === 'document' ? key : null,
      request_id: `request-${at}`,
      document_id: type === 'document' ? id : null,
      ...{ target: { type, id }, details },
    });
    head = entry;
    return `${toCanonicalJson(entry)}\n`;
  });
  return lines.join('');
}
