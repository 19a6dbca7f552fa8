/** Lists all rows of the table, in the order of measurement. */
import type { Row } from './row.ts';
import { acknowledgements } from './rows/acknowledgements.ts';
import { auditLogPage } from './rows/audit-log.ts';
import { compareVersions } from './rows/comparing.ts';
import { events } from './rows/events.ts';
import { exportCached, exportHtml, exportRendered, readUnderExports } from './rows/exporting.ts';
import { createNodeWithKey, publishWithKey } from './rows/idempotency-keys.ts';
import { importWord, readUnderImports } from './rows/importing.ts';
import { metrics, traces } from './rows/instrumentation.ts';
import { logIn, readUnderLogins } from './rows/logins.ts';
import { pictureOfLink } from './rows/pictures.ts';
import { publicLinks } from './rows/public-links.ts';
import { list, listOfMillion, readTree, readTreeCached, readTreeOfBson } from './rows/reading.ts';
import { noOp, noOpWithToken, startUp } from './rows/starting.ts';
import {
  createDocument,
  createNode,
  publish,
  publishOneOrganization,
  updateDocument,
} from './rows/writing.ts';

/** The rows that `npm run bench` measures. */
export const rows: readonly Row[] = [
  startUp,
  noOp,
  noOpWithToken,
  readTree,
  readTreeOfBson,
  readTreeCached,
  compareVersions,
  createNode,
  createDocument,
  updateDocument,
  list,
  listOfMillion,
  auditLogPage,
  publish,
  publishOneOrganization,
  createNodeWithKey,
  publishWithKey,
  ...publicLinks,
  pictureOfLink,
  ...acknowledgements,
  logIn,
  readUnderLogins,
  importWord,
  readUnderImports,
  exportRendered,
  exportHtml,
  exportCached,
  readUnderExports,
  metrics,
  traces,
  ...events,
];
