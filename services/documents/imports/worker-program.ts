/** The program of an import worker. */
import { serveTasks } from '#libs/workers';
import { createImportTasks } from './tasks.ts';

serveTasks({
  title: 'pds-import-worker',
  // as low as export workers (ADR 26)
  priority: 10,
  createTasks: createImportTasks,
});
