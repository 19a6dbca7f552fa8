/** Replaces the names of renamed departments in open requests, so that the requests still ask the same members. */
import { isDeepStrictEqual } from 'node:util';
import type { Actor } from '#libs/store';
import { getCurrentNames } from '../rules/acknowledgement.ts';
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
  const names = new Set(open.flatMap(({ audience }) => audience.departments));
  const renamed = names.size > 0 ? await documents.findRenamedDepartments(actor, [...names]) : [];
  if (renamed.length === 0) return [...open];
  const { row_version: departments_version } = await documents.getOrganization(actor);
  const updated: RequestRow[] = [];
  for (const request of open) {
    const before = request.audience.departments;
    const departments = getCurrentNames(before, request.departments_version ?? 0, renamed);
    const isSame = isDeepStrictEqual(departments, before);
    const change = { audience: { ...request.audience, departments }, departments_version };
    if (!isSame) await requests.update(actor, request, change);
    updated.push(isSame ? request : { ...request, ...change });
  }
  return updated;
}
