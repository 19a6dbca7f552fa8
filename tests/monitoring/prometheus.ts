/** Starts a Prometheus that scrapes every 2 s and evaluates the project's rules every second. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { apiClient, findTestProgram, freePorts, until } from '#libs/testing';
import type { Volume } from './volume.ts';

/** A series and its current value. */
export interface Sample {
  labels: Record<string, string>;
  value: number;
}

/** A running Prometheus. */
export interface Prometheus {
  /** Evaluates a query now. Rejects if the query is invalid. */
  query(expr: string): Promise<Sample[]>;
  /** The names of all firing alerts, with their summaries. */
  firing(): Promise<Map<string, string>>;
  stop(): Promise<void>;
}

/** Options of `startPrometheus`: management ports, rules and optionally a volume. */
interface PrometheusOptions {
  targets: string[];
  volume?: Pick<Volume, 'mountpoint' | 'target'>;
  /** Content of the rules file. */
  rules: string;
}

/** Starts Prometheus. Returns undefined if it is not installed. */
export async function startPrometheus({
  rules,
  targets,
  volume,
}: PrometheusOptions): Promise<Prometheus | undefined> {
  const program = await findTestProgram('prometheus', {
    from: 'prometheus',
    purpose: 'dashboards and alerts over a running system',
  });
  if (!program) return undefined;
  const folder = await mkdtemp(join(tmpdir(), 'pds-prometheus-'));
  await writeFile(join(folder, 'rules.yaml'), rules);
  // JSON is YAML
  const settings = [
    'global: {"scrape_interval": "2s", "scrape_timeout": "2s", "evaluation_interval": "1s"}',
    `rule_files: ${JSON.stringify([join(folder, 'rules.yaml')])}`,
    'scrape_configs:',
    `- ${JSON.stringify({ job_name: 'services', static_configs: [{ targets }] })}`,
    volume ? await createVolumeScrapeConfig(volume) : '',
  ];
  await writeFile(join(folder, 'prometheus.yml'), settings.join('\n'));
  const [port] = await freePorts(1);
  const address = `127.0.0.1:${port}`;
  const flags = {
    ...{ 'config.file': join(folder, 'prometheus.yml'), 'storage.tsdb.path': join(folder, 'data') },
    ...{ 'web.listen-address': address, 'log.level': 'error' },
  };
  const words = Object.entries(flags).map(([flag, value]) => `--${flag}=${value}`);
  const child = spawn('/bin/sh', ['-c', waitScript, program, ...words], {
    stdio: ['pipe', 'ignore', 'inherit'],
  });
  const gone = once(child, 'exit');
  const client = apiClient(`http://${address}`);
  const ask = async (path: string, query: Record<string, string> = {}) => {
    const response = await client.request('GET', `/${path}?${new URLSearchParams(query)}`);
    const { status, data, error }: ApiResponse = response.body;
    if (status !== 'success') throw new Error(`${query.query ?? path}: ${error}`);
    return data;
  };
  const server: Prometheus = {
    async query(expr) {
      const { result = [] } = await ask('query', { query: expr });
      return result.map(({ metric, value: [, value] }) => ({ labels: metric, value: Number(value) }));
    },
    async firing() {
      const { alerts = [] } = await ask('alerts');
      const now = alerts.filter(({ state }) => state === 'firing');
      return new Map(now.map(({ labels, annotations }) => [`${labels.alertname}`, `${annotations.summary}`]));
    },
    async stop() {
      child.stdin?.end();
      await gone;
      await rm(folder, { recursive: true, force: true });
    },
  };
  await until('Prometheus', () =>
    server.query('up').then(
      ({ length }) => length > 0,
      () => false,
    ),
  );
  return server;
}

/** The scrape configuration for volumes from the runbook, with this volume instead of MongoDB's. */
async function createVolumeScrapeConfig({
  mountpoint,
  target,
}: Pick<Volume, 'mountpoint' | 'target'>): Promise<string> {
  const runbook = await readFile(new URL('../../docs/runbook.md', import.meta.url), 'utf8');
  const [, config] = /```yaml\n(- job_name: volumes\n.*?)```/s.exec(runbook) ?? [];
  if (!config?.includes('127.0.0.1:9100') || !config.includes('/var/lib/mongodb'))
    throw new Error('The runbook has no scrape configuration for volumes');
  return config.replace('127.0.0.1:9100', target).replace('/var/lib/mongodb', mountpoint);
}

/** Stops the server when stdin closes, so a SIGKILL of the test leaves no orphan. */
const waitScript = '"$0" "$@" </dev/null & p=$!; cat >/dev/null; kill -TERM $p; wait';

/** The fields of a response of Prometheus' API that are used here. */
interface ApiResponse {
  status: string;
  error?: string;
  data: {
    result?: { metric: Record<string, string>; value: [number, string] }[];
    alerts?: { state: string; labels: Record<string, string>; annotations: Record<string, string> }[];
  };
}
