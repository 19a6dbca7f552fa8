/** Appends an entry to the audit log for each event that reports a change. */
import type { Envelope } from '#libs/contract';
import { on, type Subscriber } from '#libs/events';
import type { Store } from '#libs/store';
import type { AuditLogMetrics } from '../metrics.ts';
import { type AuditSubject, auditedEvents, toAuditActor } from '../rules/audit-entries.ts';
import type { AuditLogRepository } from '../store/audit-log.ts';

/** What the subscribers of the audit log need. */
export interface AuditLogDeps {
  store: Pick<Store, 'processInTurn'>;
  auditLog: Pick<AuditLogRepository, 'append'>;
  auditLogMetrics: AuditLogMetrics;
}

/** Subscribes to the events of the audit log. Each event gets one entry; an event that arrives again gets none. */
export function appendToAuditLog({ store, auditLog, auditLogMetrics }: AuditLogDeps): Subscriber[] {
  return auditedEvents.map(({ type, describe }) =>
    on(type, async (event) => {
      const subject = describe(event.data, event);
      if (!subject) return;
      const isNew = await store.processInTurn(event, async (tx) => {
        await auditLog.append(toFields(event, subject), tx);
      });
      if (isNew) auditLogMetrics.recordEntry(event);
    }),
  );
}

function toFields(event: Envelope, subject: AuditSubject) {
  const { id, organization_id, occurred_at, type, api_key_id = null, request_id = null } = event;
  return {
    ...{ id, organization_id, occurred_at, action: type, actor: subject.actor ?? toAuditActor(event) },
    ...{ api_key_id, request_id, document_id: subject.document_id ?? null },
    ...{ target: subject.target, details: { ...subject.details } },
  };
}
