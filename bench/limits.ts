/** Every promise in plain numbers, in the order in which they are measured. */

import type { Limit } from './limit.ts';
import { deliveries } from './rows/delivering.ts';
import { documentsInMemory, hugeTreeBeside, reviseHuge } from './rows/huge.ts';
import { idle } from './rows/idle.ts';
import { keyedWriters } from './rows/keyed.ts';
import { searches } from './rows/searching.ts';

/** What `npm run bench` measures behind the table of ratios. */
export const timings: readonly Limit[] = [
  idle,
  ...searches,
  hugeTreeBeside,
  reviseHuge,
  documentsInMemory,
  keyedWriters,
  ...deliveries,
];
