/** Tests that the dashboards have the JSON model that Grafana documents. Grafana itself does not run here. */
import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { contracts } from '../../services/contracts.ts';

const folder = new URL('../../charts/platform/dashboards/', import.meta.url);
const files = readdirSync(folder);

const place = z.strictObject({
  x: z.int().min(0),
  y: z.int().min(0),
  w: z.int().min(1).max(24),
  h: z.int().min(1),
});
const datasource = z.strictObject({ type: z.literal('prometheus'), uid: z.literal('$datasource') });
const target = z.looseObject({ refId: z.string().regex(/^[A-Z]$/), datasource, expr: z.string().min(5) });
const row = z.looseObject({ id: z.int(), type: z.literal('row'), title: z.string().min(3), gridPos: place });
const panel = z.looseObject({
  ...{ id: z.int(), type: z.enum(['timeseries', 'stat']), title: z.string().min(2), gridPos: place },
  ...{ description: z.string().endsWith('.'), datasource, targets: z.array(target).min(1) },
  fieldConfig: z.looseObject({
    defaults: z.looseObject({ unit: z.string() }),
    overrides: z.array(z.never()),
  }),
});
const model = z.looseObject({
  uid: z.string().regex(/^[a-z-]{1,40}$/),
  title: z.string(),
  schemaVersion: z.literal(39),
  templating: z.object({
    list: z.tuple([
      z.looseObject({
        ...{ name: z.literal('datasource'), type: z.literal('datasource'), query: z.literal('prometheus') },
      }),
    ]),
  }),
  panels: z.array(z.union([row, panel])).min(4),
});

const read = (file: string) => model.parse(JSON.parse(readFileSync(new URL(file, folder), 'utf8')));

test('every service has a dashboard, and there are four general ones', () => {
  const wanted = ['overview', 'webhooks', 'exports', 'dependencies'];
  const services = contracts.map(({ name }) => `service-${name}`);
  expect(files.sort()).toEqual([...wanted, ...services].map((name) => `${name}.json`).sort());
  expect(new Set(files.map((file) => read(file).uid)).size).toBe(files.length);
});

test.each(files)('%s is a valid dashboard without duplicate ids or overlapping panels', (file) => {
  const { panels } = read(file);
  expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
  const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) => {
    expect(x + w).toBeLessThanOrEqual(24);
    return Array.from({ length: w * h }, (_, at) => `${x + (at % w)},${y + Math.floor(at / w)}`);
  });
  expect(new Set(cells).size).toBe(cells.length);
});
