/** The operations on departments. A department is a name that can be assigned to members. */
import { z } from 'zod';
import { id, NotFound, nothing, operation, page } from '#libs/contract';
import { admin, member } from '../access.ts';
import { DepartmentInUse, DepartmentTaken } from '../problems.ts';
import { Department, departmentName } from '../shapes.ts';

const departmentParams = z.object({ department_id: id });
const body = z.strictObject({ name: departmentName });

export const listDepartments = operation({
  id: 'listDepartments',
  method: 'get',
  path: '/departments',
  summary: 'List departments, sorted by name',
  access: member,
  query: z.object(page),
  status: 200,
  returns: z.array(Department),
  paged: true,
  problems: [],
});

export const createDepartment = operation({
  id: 'createDepartment',
  method: 'post',
  path: '/departments',
  summary: 'Create a department',
  access: admin,
  body,
  status: 201,
  returns: Department,
  problems: [DepartmentTaken],
});

export const updateDepartment = operation({
  id: 'updateDepartment',
  method: 'patch',
  path: '/departments/{department_id}',
  summary: 'Rename a department',
  description: 'Its members get the new name. Departments of documents are free text and do not change.',
  access: admin,
  params: departmentParams,
  body,
  status: 200,
  returns: Department,
  problems: [NotFound, DepartmentTaken],
});

export const deleteDepartment = operation({
  id: 'deleteDepartment',
  method: 'delete',
  path: '/departments/{department_id}',
  summary: 'Delete a department without members',
  access: admin,
  params: departmentParams,
  status: 204,
  returns: nothing,
  problems: [NotFound, DepartmentInUse],
});
