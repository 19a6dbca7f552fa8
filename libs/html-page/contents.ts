/** Writes the table of contents, which folds as a whole on small screens and by section everywhere. */
import { escapeHtml, type Html, html, joinHtml } from '#libs/rich-text';
import type { PageNode, PageNodes } from './page-document.ts';
import type { PageWords } from './words.ts';

/** With more entries than this, only sections are listed, to keep the overview short. */
const maxEntries = 300;

/** Lists the sections with their steps; empty if there are fewer than two entries. */
export function tableOfContents(children: PageNodes, words: PageWords): Html {
  const sections = children.get(null) ?? [];
  const getSteps = (section: PageNode) => children.get(section._id) ?? [];
  const count = sections.reduce((sum, section) => sum + 1 + getSteps(section).length, 0);
  if (count < 2) return joinHtml([]);
  const stepsOf = escapeHtml(words.stepsOf);
  const items = sections.map((section, at) => {
    const number = escapeHtml(`${at + 1}`);
    const steps = count > maxEntries ? [] : getSteps(section);
    if (steps.length === 0) return html`<li>${entry(section, number)}</li>`;
    const list = steps.map(
      (step, below) => html`<li>${entry(step, html`${number}.${escapeHtml(`${below + 1}`)}`)}</li>`,
    );
    return html`<li>${entry(section, number)}<details><summary aria-label="${stepsOf} ${number}"></summary><ol>${joinHtml(list)}</ol></details></li>`;
  });
  const name = escapeHtml(words.contents);
  return html`<nav class="contents" aria-label="${name}">
<details>
<summary>${name}</summary>
<ol id="contents" dir="auto">
${joinHtml(items, '\n')}
</ol>
</details>
</nav>`;
}

function entry({ title }: PageNode, number: Html): Html {
  return html`<a href="#${number}"><span class="index">${number}</span> <span>${escapeHtml(title)}</span></a>`;
}
