/** Replaces the names of renamed departments in open requests, so that these ask the same members. */
import { isDeepStrictEqual } from 'node:util';
import type { Actor } from '#libs/store';
import { getCurrentNames } from '../rules/acknowledgement.ts';
import type { RequestRow } from '../store/acknowledgement-collections.ts';
import type { OpenRequest, RequestStore } from '../store/acknowledgement-requests.ts';
import type { DocumentReader } from '../store/documents.ts';

/** What reads the current names and writes them. */
export interface DepartmentNameDeps {
  documents: Pick<DocumentReader, 'findRenamedDepartments' | 'getOrganization'>;
  requests: Pick<RequestStore, 'update'>;
}

/** Returns an open request with the current names, also if the event of a rename has not been processed yet. */
export async function updateOpenRequest(
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
  found: readonly RequestRow[],
): Promise<RequestRow[]> {
  const names = new Set(found.flatMap(({ audience }) => audience.departments));
  const renamed = names.size > 0 ? await documents.findRenamedDepartments(actor, [...names]) : [];
  if (renamed.length === 0) return [...found];
  const { row_version: departments_version } = await documents.getOrganization(actor);
  const updated: RequestRow[] = [];
  for (const request of found) {
    const before = request.audience.departments;
    const departments = getCurrentNames(before, request.departments_version ?? 0, renamed);
    const isSame = isDeepStrictEqual(departments, before);
    const change = { audience: { ...request.audience, departments }, departments_version };
    if (!isSame) await requests.update(actor, request, change);
    updated.push(isSame ? request : { ...request, ...change });
  }
  return updated;
}
