/** The tasks of an import worker. */
import { convertFile } from './conversion.ts';
import { previewFile } from './preview.ts';

/** The tasks by name. They need nothing but their input. */
export type ImportTasks = ReturnType<typeof createImportTasks>;

/** Creates the tasks, which run one at a time. */
export function createImportTasks() {
  return { convertFile, previewFile };
}
