/** Finds the current names of renamed departments. */

/** A department with its former names. `until_version`: the first version of the organization without the name. */
export interface RenamedDepartment {
  name: string;
  former_names?: readonly { name: string; until_version: number }[] | undefined;
}

/**
 * Returns the current names of the departments that had `names` at `version` of the organization, each once. Other
 * names stay.
 */
export function getCurrentNames(
  names: readonly string[],
  version: number,
  renamed: readonly RenamedDepartment[],
): string[] {
  const renames = renamed
    .flatMap(({ name, former_names = [] }) => former_names.map((former) => ({ former, name })))
    .filter(({ former }) => former.until_version > version)
    .sort((one, other) => one.former.until_version - other.former.until_version);
  // the first department to give up a name after `version` is the one that had it at `version`
  return [...new Set(names.map((name) => renames.find(({ former }) => former.name === name)?.name ?? name))];
}
