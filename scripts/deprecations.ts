/** Lists the deprecated operations for the page of all operations. */
import type { Contract } from '#libs/contract';
import { renderTable } from './page.ts';

/** Returns the section with the table of all deprecated operations. */
export function deprecationsSection(contracts: readonly Contract[]): string {
  const rows = contracts.flatMap(({ operations }) =>
    operations.flatMap(({ id, deprecated }) =>
      deprecated ? [[`\`${id}\``, deprecated.since, deprecated.sunset ?? '–', deprecated.instead]] : [],
    ),
  );
  const table = renderTable(['operation', 'deprecated since', 'may be gone from', 'instead'], rows);
  const text = rows.length === 0 ? 'No operation is deprecated.' : table;
  return `## Deprecated\n\n[Versioning](../versioning.md) says what this means.\n\n${text}`;
}
