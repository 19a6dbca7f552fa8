/** Appends an entry to the audit log for each event that reports a change. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Envelope } from '#libs/contract';
import { on, type Subscriber } from '#libs/events';
import { isUnavailable } from '#libs/store';
import type { AuditLogMetrics } from '../metrics.ts';
import { type AuditSubject, auditedEvents, toAuditActor } from '../rules/audit-entries.ts';
import type { AuditLogRepository, NewAuditEntry } from '../store/audit-log.ts';

/** What the subscribers of the audit log need. */
export interface AuditLogDeps {
  auditLog: Pick<AuditLogRepository, 'append'>;
  auditLogMetrics: AuditLogMetrics;
}

/** How long a batch collects entries, ms. Nobody waits for an entry, and a batch costs as much as one entry. */
const collectMs = 50;

/** An entry that waits for its batch. */
interface Waiting {
  entry: NewAuditEntry;
  resolve(isNew: boolean): void;
  reject(error: unknown): void;
}

/** Subscribes to the events of the audit log. Each event gets one entry; an event that arrives again gets none. */
export function appendToAuditLog({ auditLog, auditLogMetrics }: AuditLogDeps): Subscriber[] {
  const append = appendInBatches(auditLog);
  return auditedEvents.map(({ type, describe }) =>
    on(
      type,
      async (event) => {
        const subject = describe(event.data, event);
        if (subject && (await append(toEntry(event, subject)))) auditLogMetrics.recordEntry(event);
      },
      { isIdempotent: true },
    ),
  );
}

/** Returns a function that appends an entry together with others, and resolves with whether it is new. */
function appendInBatches({ append }: Pick<AuditLogRepository, 'append'>) {
  const waiting: Waiting[] = [];
  let isRunning = false;

  return (entry: NewAuditEntry): Promise<boolean> =>
    new Promise((resolve, reject) => {
      waiting.push({ entry, resolve, reject });
      if (!isRunning) void run();
    });

  /** Appends one batch after the other until none is left; never rejects. */
  async function run(): Promise<void> {
    isRunning = true;
    while (waiting.length > 0) {
      await pause(collectMs);
      await appendBatch(waiting.splice(0));
    }
    isRunning = false;
  }

  /** If a batch fails, appends each entry alone, so that one cannot stop the others. */
  async function appendBatch(batch: readonly Waiting[]): Promise<void> {
    try {
      const isNew = await append(batch.map(({ entry }) => entry));
      for (const [at, { resolve }] of batch.entries()) resolve(isNew[at] ?? false);
    } catch (error) {
      if (batch.length === 1 || isUnavailable(error)) for (const { reject } of batch) reject(error);
      else for (const one of batch) await appendBatch([one]);
    }
  }
}

function toEntry(event: Envelope, subject: AuditSubject): NewAuditEntry {
  const { id, organization_id, occurred_at, type, api_key_id = null, request_id = null } = event;
  return {
    ...{ id, organization_id, occurred_at, action: type, actor: subject.actor ?? toAuditActor(event) },
    ...{ api_key_id, request_id, document_id: subject.document_id ?? null },
    ...{ target: subject.target, details: { ...subject.details } },
  };
}
