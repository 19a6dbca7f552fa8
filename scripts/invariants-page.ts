/** Generates docs/invariants.md from the invariants that `npm run verify` checks. */
import { invariants } from '../tools/admin/verify/invariants.ts';
import { renderPage, renderTable } from './page.ts';

const introduction = `\`npm run verify\` checks these invariants of the database and prints one line for each one that is broken
([how to use it](deployment.md#checking-the-database), [what to do](runbook.md#checking-the-database)). Its tests break
each of them in a real database (\`tests/verify\`), and the [chaos tests](fault-tolerance.md) check all of them after each
fault.

- The name is the collection and the field whose rows are counted. A report names the ids of these rows.
- *Always*: transactions keep the invariant, so it holds at every time. The check reads snapshots, so concurrent changes
  do not disturb it.
- *Eventually*: work in the background establishes it. Only work that is open for longer than the grace period counts,
  by default one hour.
- An event is stored for seven days. Changes that are older are not compared with their events.`;

/** The content of docs/invariants.md. */
export function invariantsPage(): string {
  const rows = invariants.map(({ name, description, isEventual }) => {
    return [`\`${name}\``, description, isEventual ? 'eventually' : 'always'];
  });
  return renderPage(
    'Invariants',
    [introduction, renderTable(['name', 'what holds', 'when'], rows)],
    '`tools/admin/verify`',
  );
}
