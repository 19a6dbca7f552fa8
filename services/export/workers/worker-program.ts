/** The program of an export worker. */
import { Secret } from '#libs/contract';
import { serveTasks } from '#libs/workers';
import { createTasks } from './tasks.ts';

serveTasks({
  title: 'pds-export-worker',
  // low enough to protect the p99 of readers, and high enough that a file is done within seconds when other programs
  // need all cores (ADR 26)
  priority: 10,
  createTasks: (mongodb: string) => createTasks(new Secret(mongodb)),
});
