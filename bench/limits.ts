/** Lists all limits, in the order of measurement. */
import type { Limit } from './limit.ts';
import { auditLogRate } from './rows/audit-log.ts';
import { exportBesideBusyLoops } from './rows/exporting.ts';
import { writersWithKey } from './rows/idempotency-keys.ts';
import { idle, idleMemory } from './rows/idle.ts';
import { documentsMemory, reviseHuge } from './rows/large-documents.ts';
import { libraryMemory } from './rows/library.ts';
import { overload } from './rows/overload.ts';
import { searches } from './rows/searching.ts';
import { requestsBesideLargeWork } from './rows/waiting.ts';
import { deliveries } from './rows/webhooks.ts';

/** The limits that `npm run bench` measures after the rows. */
export const limits: readonly Limit[] = [
  idle,
  idleMemory,
  ...searches,
  ...requestsBesideLargeWork,
  reviseHuge,
  documentsMemory,
  writersWithKey,
  auditLogRate,
  ...overload,
  exportBesideBusyLoops,
  libraryMemory,
  ...deliveries,
];
