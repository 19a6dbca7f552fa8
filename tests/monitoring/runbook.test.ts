/** Tests that the runbook has one section for each alert, and that its links and commands exist. */
import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { alerts } from '../../scripts/monitoring/alerts.ts';
import { realTime } from '../../scripts/monitoring/time-scale.ts';

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const runbook = read('docs/runbook.md');
/** The names of the alert sections: their headings have one word, other headings have several. */
const sections = [...runbook.matchAll(/^## ([A-Z]\w+)$/gm)].map(([, name]) => name);
const toAnchor = (heading: string) =>
  heading
    .toLowerCase()
    .replaceAll(/[^\w\s-]/g, '')
    .replaceAll(' ', '-');

test('the runbook has exactly one section for each alert', () => {
  expect(sections.toSorted()).toEqual(
    alerts(realTime)
      .map(({ name }) => name)
      .toSorted(),
  );
});

test('every runbook link of an alert, and within the runbook, has a target', () => {
  const anchors = [...runbook.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => toAnchor(heading));
  const rules = read('charts/platform/rules/platform.yaml');
  const linked = [...rules.matchAll(/runbook_url: "docs\/runbook\.md#([^"]+)"/g)].map(([, anchor]) => anchor);
  expect(linked.length).toBe(alerts(realTime).length);
  const within = [...runbook.matchAll(/\]\(#([^)]+)\)/g)].map(([, anchor]) => anchor);
  for (const anchor of [...linked, ...within]) expect(anchors).toContain(anchor);
});

test('links of the runbook to other pages have a target', () => {
  for (const [, page, anchor] of runbook.matchAll(/\]\(([a-z-]+\.md)(?:#([^)]+))?\)/g)) {
    const headings = [...read(`docs/${page}`).matchAll(/^#+ (.+)$/gm)].map(([, one = '']) => toAnchor(one));
    if (anchor) expect(headings).toContain(anchor);
  }
});

test('npm scripts of the runbook exist', () => {
  const { scripts } = JSON.parse(read('package.json'));
  for (const [, script = ''] of runbook.matchAll(/npm run ([\w-]+)/g))
    expect(scripts).toHaveProperty([script]);
});
