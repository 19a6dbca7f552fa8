/** Every row of the table, in the order in which they are measured. */
import type { Row } from './row.ts';
import { embedding } from './rows/embedding.ts';
import { events } from './rows/events.ts';
import { readBesideExports, wordAgain, wordAnew } from './rows/exporting.ts';
import { createNodeWithKey, publishWithKey } from './rows/keyed.ts';
import { metrics, traces } from './rows/observing.ts';
import { list, listOfMillion, readTree, readTreeAgain, readTreeOfBson } from './rows/reading.ts';
import { logIn, readBesideLogins } from './rows/signing-in.ts';
import { noOp, noOpByToken, startUp } from './rows/starting.ts';
import { createDocument, createNode, publish, publishOfOne, updateDocument } from './rows/writing.ts';

/** What `npm run bench` measures. */
export const rows: readonly Row[] = [
  startUp,
  noOp,
  noOpByToken,
  readTree,
  readTreeOfBson,
  readTreeAgain,
  createNode,
  createDocument,
  updateDocument,
  list,
  listOfMillion,
  publish,
  publishOfOne,
  createNodeWithKey,
  publishWithKey,
  ...embedding,
  logIn,
  readBesideLogins,
  wordAnew,
  wordAgain,
  readBesideExports,
  metrics,
  traces,
  ...events,
];
