/** Writes the table of contents twice, for wide screens and folded for narrow ones; CSS hides one. */
import { escapeHtml, type Html, html, joinHtml } from '#libs/rich-text';
import type { NodesByParent } from '../../documents/contract.ts';
import type { NodeRow } from '../store.ts';

/** With more entries than this, only sections are listed, to keep the overview short. */
const maxEntries = 300;

/** Lists the sections with their steps; empty if there are fewer than two entries. */
export function tableOfContents(children: NodesByParent<NodeRow>): Html {
  const sections = children.get(null) ?? [];
  const getSteps = (section: NodeRow) => children.get(section._id) ?? [];
  const entries = sections.reduce((sum, section) => sum + 1 + getSteps(section).length, 0);
  if (entries < 2) return joinHtml([]);
  const items = sections.map((section, at) => {
    const steps = entries > maxEntries ? [] : getSteps(section);
    return entry(
      section,
      `${at + 1}`,
      steps.map((step, below) => entry(step, `${at + 1}.${below + 1}`, [])),
    );
  });
  const list = html`<ol dir="auto">
${joinHtml(items, '\n')}
</ol>`;
  return html`<nav class="contents narrow" aria-label="Contents">
<details>
<summary>Contents</summary>
${list}
</details>
</nav>
<nav class="contents wide" aria-label="Contents">
<p>Contents</p>
${list}
</nav>`;
}

function entry({ title }: NodeRow, number: string, below: readonly Html[]): Html {
  const to = escapeHtml(number);
  const inner = below.length === 0 ? joinHtml([]) : html`<ol>${joinHtml(below)}</ol>`;
  return html`<li><a href="#${to}"><span class="index">${to}</span> <span>${escapeHtml(title)}</span></a>${inner}</li>`;
}
