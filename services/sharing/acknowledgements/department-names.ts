/** Replaces the names of renamed departments in open requests, so that the requests still ask the same members. */
import { isDeepStrictEqual } from 'node:util';
import type { Actor } from '#libs/store';
import { getCurrentNames } from '../../identity/contract.ts';
import type { RequestRow } from '../store/acknowledgement-collections.ts';
import type { OpenRequest, RequestStore } from '../store/acknowledgement-requests.ts';
import type { DocumentReader } from '../store/documents.ts';

/** Reads renamed departments, and saves requests with the current names. */
export interface DepartmentNameDeps {
  documents: Pick<DocumentReader, 'findRenamedDepartments' | 'getOrganization'>;
  requests: Pick<RequestStore, 'update'>;
}

/** Saves and returns an open request with the current names, also before the event of a rename is processed. */
export async function refreshDepartmentNames(
  deps: DepartmentNameDeps,
  actor: Actor,
  open: OpenRequest,
): Promise<OpenRequest> {
  const [request = open.request] = await updateDepartmentNames(deps, actor, [open.request]);
  return { ...open, request };
}

/** Replaces the former names of departments in open requests, and returns the requests with the current names. */
export async function updateDepartmentNames(
  { documents, requests }: DepartmentNameDeps,
  actor: Actor,
  open: readonly RequestRow[],
): Promise<RequestRow[]> {
  const updated = await resolveDepartmentNames(documents, actor, open);
  for (const [at, request] of updated.entries()) {
    if (request === open[at]) continue;
    const { audience, departments_version } = request;
    await requests.update(actor, request, { audience, departments_version });
  }
  return updated;
}

/**
 * Returns requests in the same order, those that are open with the current names of their departments, without saving
 * them. A closed request keeps the names that it had.
 */
export async function resolveDepartmentNames(
  documents: DepartmentNameDeps['documents'],
  actor: Actor,
  all: readonly RequestRow[],
): Promise<RequestRow[]> {
  const names = new Set(
    all.flatMap(({ status, audience }) => (status === 'open' ? audience.departments : [])),
  );
  const renamed = names.size > 0 ? await documents.findRenamedDepartments(actor, [...names]) : [];
  if (renamed.length === 0) return [...all];
  const { row_version: departments_version } = await documents.getOrganization(actor);
  return all.map((request) => {
    const before = request.audience.departments;
    if (request.status !== 'open') return request;
    const departments = getCurrentNames(before, request.departments_version ?? 0, renamed);
    if (isDeepStrictEqual(departments, before)) return request;
    return { ...request, audience: { ...request.audience, departments }, departments_version };
  });
}
