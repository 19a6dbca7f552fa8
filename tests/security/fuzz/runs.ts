/** The fuzz runs: which caller sends requests to which operations. */
import type { Role } from './fuzz-target.ts';
import type { FuzzOptions } from './schemathesis.ts';

/** A run. */
export interface Run extends Pick<FuzzOptions, 'phases' | 'only' | 'without'> {
  /** Who sends the requests, for the name of a test. */
  name: string;
  role: Role;
}

/** An admin may remove or demote everyone with these operations, also the caller. */
const endingOperations = ['deleteMember', 'updateMember'];

/** Returns all runs. Together they send requests to every operation in every role. */
export function listRuns(): readonly Run[] {
  return [
    {
      name: 'an admin',
      role: 'admin',
      phases: ['coverage', 'fuzzing', 'stateful'],
      without: endingOperations,
    },
    {
      name: 'an admin about members',
      role: 'admin',
      phases: ['coverage', 'fuzzing'],
      only: endingOperations,
    },
    { name: 'a member', role: 'member', phases: ['coverage', 'fuzzing', 'stateful'] },
    { name: 'an anonymous caller', role: 'anonymous', phases: ['coverage', 'fuzzing'] },
  ];
}
