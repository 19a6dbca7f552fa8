/** The runbook: who is told something finds its section, and no section speaks of an alert that is not there. */
import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { alerts } from '../../scripts/monitoring/alerts.ts';
import { realTime } from '../../scripts/monitoring/time-scale.ts';

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const runbook = read('docs/runbook.md');
/** Sections of alerts have one word for a heading, all others several. */
const sections = [...runbook.matchAll(/^## ([A-Z]\w+)$/gm)].map(([, name]) => name);
const toAnchor = (heading: string) =>
  heading
    .toLowerCase()
    .replaceAll(/[^\w\s-]/g, '')
    .replaceAll(' ', '-');

test('each alert has its section, each section its alert', () => {
  expect(sections.toSorted()).toEqual(
    alerts(realTime)
      .map(({ name }) => name)
      .toSorted(),
  );
});

test('where an alert leads to, there is something', () => {
  const anchors = [...runbook.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => toAnchor(heading));
  const rules = read('charts/platform/rules/platform.yaml');
  const led = [...rules.matchAll(/runbook_url: "docs\/runbook\.md#([^"]+)"/g)].map(([, anchor]) => anchor);
  expect(led.length).toBe(alerts(realTime).length);
  const within = [...runbook.matchAll(/\]\(#([^)]+)\)/g)].map(([, anchor]) => anchor);
  for (const anchor of [...led, ...within]) expect(anchors).toContain(anchor);
});

test('other pages that it names are there, with what it names in them', () => {
  for (const [, page, anchor] of runbook.matchAll(/\]\(([a-z-]+\.md)(?:#([^)]+))?\)/g)) {
    const headings = [...read(`docs/${page}`).matchAll(/^#+ (.+)$/gm)].map(([, one = '']) => toAnchor(one));
    if (anchor) expect(headings).toContain(anchor);
  }
});

test('what it has one run is there', () => {
  const { scripts } = JSON.parse(read('package.json'));
  for (const [, script = ''] of runbook.matchAll(/npm run ([\w-]+)/g))
    expect(scripts).toHaveProperty([script]);
});
