/** A running process with all services, and callers in organizations of their own, for fuzz tests. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { addMember, register } from '#libs/testing';
import { type ServiceProcess, startServiceProcess } from '../service-process.ts';
import { createReference } from './reference.ts';

/** The role of a caller. */
export type Role = 'admin' | 'member' | 'anonymous';

/** A caller in a new organization, which has resources of every kind. */
export interface Caller {
  /** An access token; undefined for an anonymous caller. */
  token: string | undefined;
  /** The file with the OpenAPI reference, in which the ids of the resources are possible values. */
  reference: string;
  /** A folder for reports. */
  folder: string;
}

/** The process under test. */
export interface FuzzTarget extends ServiceProcess {
  createCaller(role: Role): Promise<Caller>;
}

/** Starts the process on a new database. */
export async function startFuzzTarget(): Promise<FuzzTarget> {
  const [service, folder] = await Promise.all([startServiceProcess(), mkdtemp(join(tmpdir(), 'pds-fuzz-'))]);
  const { api } = service;
  let created = 0;
  return {
    ...service,
    async createCaller(role) {
      const admin = await register(api);
      const [member, other] = [await addMember(api, admin.token), await addMember(api, admin.token)];
      created += 1;
      const own = join(folder, String(created));
      await mkdir(own);
      const reference = join(own, 'openapi.json');
      await writeFile(reference, JSON.stringify(await createReference(api, admin, other.userId)));
      const token = { admin: admin.token, member: member.token, anonymous: undefined }[role];
      return { token, reference, folder: own };
    },
    async stop() {
      await service.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
