/** Tests the recording and alerting rules with promtool. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { findTestProgram } from '#libs/testing';
import { alerts } from '../../scripts/monitoring/alerts.ts';
import { series } from '../../scripts/monitoring/queries.ts';
import { realTime } from '../../scripts/monitoring/time-scale.ts';
import { type Case, cases } from './cases.ts';

const shipped = new URL('../../charts/platform/rules/platform.yaml', import.meta.url).pathname;
/** Evaluation interval of the rules, by the interval of the values. Longer intervals keep tests over days fast. */
const evaluationIntervals = { '15s': '15s', '1m': '1m', '2m': '5m', '10m': '30m' };
let promtool: string | undefined;
let folder: string;

beforeAll(async () => {
  promtool = await findTestProgram('promtool', { from: 'prometheus', purpose: 'rules of Prometheus' });
  folder = await mkdtemp(join(tmpdir(), 'pds-rules-'));
}, 400_000);
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Runs promtool. Returns its output, also if it fails. */
async function run(...args: string[]): Promise<string> {
  const failed = (error: { stdout: string; stderr: string }) => error;
  const { stdout, stderr } = await promisify(execFile)(`${promtool}`, args).catch(failed);
  return stdout + stderr;
}

/** Combines cases into one promtool test that counts the firing series of each alert. */
function toPromtoolTest(cases: readonly Case[]) {
  const toChecks = ({ alert, severity, fires, silentAt }: Case) => {
    const expr = `count by (severity) (ALERTS{alertname="${alert}", alertstate="firing"})`;
    const samples = [{ labels: `{severity="${severity}"}`, value: fires?.times ?? 1 }];
    const firing = fires ? [{ expr, eval_time: fires.at, exp_samples: samples }] : [];
    return [...firing, { expr, eval_time: silentAt, exp_samples: [] }];
  };
  return {
    interval: cases[0]?.every,
    input_series: cases.flatMap((one) =>
      Object.entries(one.series).map(([name, values]) => ({ series: name, values })),
    ),
    promql_expr_test: cases.flatMap(toChecks),
  };
}

/** Groups cases without common series: promtool creates a database for each test. */
function groupCases(all: readonly Case[]): Case[][] {
  const groups: Case[][] = [];
  for (const one of all) {
    const free = groups.find((group) =>
      group.every((other) => Object.keys(other.series).every((name) => !(name in one.series))),
    );
    if (free) free.push(one);
    else groups.push([one]);
  }
  return groups;
}

async function testRules(some: readonly Case[], every: Case['every']): Promise<string> {
  const file = join(folder, `${every}.yaml`);
  // JSON is YAML
  const text = {
    rule_files: [shipped],
    evaluation_interval: evaluationIntervals[every],
    // without this the order is random, and an alert may read a recorded value that is 30 minutes old
    group_eval_order: ['objectives', 'alerts'],
    tests: groupCases(some).map(toPromtoolTest),
  };
  await writeFile(file, JSON.stringify(text));
  return run('test', 'rules', file);
}

test('every alert fires in at least one case', () => {
  const fired = cases.filter((one) => one.fires).map(({ alert }) => alert);
  expect([...new Set(fired)].sort()).toEqual(
    alerts(realTime)
      .map(({ name }) => name)
      .sort(),
  );
});

test('each alert fires when it should and not before', async () => {
  if (!promtool) return;
  expect(await run('check', 'rules', shipped)).toMatch(/SUCCESS: \d+ rules found/);
  const paces = Object.keys(evaluationIntervals) as Case['every'][]; // the keys of the object above
  const outputs = await Promise.all(
    paces.map((pace) =>
      testRules(
        cases.filter(({ every }) => every === pace),
        pace,
      ),
    ),
  );
  expect(outputs).toEqual(paces.map(() => expect.stringMatching(/SUCCESS\s*$/)));
});

test('promtool reports a case with a wrong expectation', async () => {
  const [one] = cases;
  if (!promtool || !one) return;
  expect(await testRules([{ ...one, severity: 'ticket' }], one.every)).toMatch(/FAILED/);
});

test('a query fails for undeclared metrics, labels and values', () => {
  expect(() => series('webhook_due')).toThrow('is not a declared metric');
  expect(() => series('webhook_due_deliveries', { status: 'failed' })).toThrow('has no label status');
  expect(() => series('event_queue_messages', { state: 'gone' })).toThrow('has no state=gone');
  expect(() => series('http_problems_total', { service: 'documents' })).toThrow('has no label service');
  expect(() => series('webhook_delivery_latency_seconds', { le: '61' }, '_bucket')).toThrow('has no le=61');
  expect(() => series('webhook_delivery_latency_seconds')).toThrow('is not a series');
});
