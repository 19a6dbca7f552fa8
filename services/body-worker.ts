/** The program of the worker that parses large request bodies. */
import { createBodyTasks } from '#libs/contract';
import { serveTasks } from '#libs/workers';
import { contracts } from './contracts.ts';

serveTasks({
  title: 'pds-body-worker',
  createTasks: () => createBodyTasks(contracts.flatMap(({ operations }) => operations)),
});
