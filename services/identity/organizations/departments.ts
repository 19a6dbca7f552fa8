/** Departments: the list of names from which a member's department is chosen. */
import { z } from 'zod';
import { NotFound, parseCursor } from '#libs/contract';
import { handle, toPage } from '#libs/http';
import type { Store } from '#libs/store';
import {
  createDepartment,
  DepartmentRenamed,
  deleteDepartment,
  listDepartments,
  updateDepartment,
} from '../contract.ts';
import type { Department } from '../shapes.ts';
import type { DepartmentRow } from '../store/collections.ts';
import type { DepartmentRepository } from '../store/departments.ts';

const position = z.tuple([z.string()]);

/** What the operations on departments need. */
export interface DepartmentOptions {
  store: Pick<Store, 'respond'>;
  departments: DepartmentRepository;
  now: () => Date;
}

/** Handlers of the operations on departments. */
export function departmentHandlers({ store, departments, now }: DepartmentOptions) {
  return [
    handle(listDepartments, async ({ actor, query }) => {
      const [after] = parseCursor(query.cursor, position) ?? [];
      const found = await departments.list(actor, { after, limit: query.limit + 1 });
      return toPage({ found, limit: query.limit, toItem: toDepartment, position: ({ name }) => [name] });
    }),

    handle(createDepartment, ({ actor, body }) =>
      store.respond(actor, async (within) => toDepartment(await departments.add(within, body.name, now()))),
    ),

    handle(updateDepartment, async ({ actor, params, body }) => {
      const { department_id } = params;
      const row = await departments.rename(actor, department_id, body.name, (before, tx) =>
        tx.publish(DepartmentRenamed, { department_id, before: before.name, after: body.name }),
      );
      if (!row) throw NotFound();
      return toDepartment(row);
    }),

    handle(deleteDepartment, async ({ actor, params }) => {
      if (!(await departments.delete(actor, params.department_id))) throw NotFound();
      return undefined;
    }),
  ];
}

/** Maps a department. */
function toDepartment({ _id, name, created_at }: DepartmentRow): z.infer<typeof Department> {
  return { id: _id, name, created_at: created_at.toISOString() };
}
