/** Checks templates and the schema of the charts without helm. `npm run lint:charts` checks what they render. */
import { readdir, readFile } from 'node:fs/promises';
import { expect, test } from '@jest/globals';
import { valuesSchema } from '../scripts/chart-schema.ts';
import { contracts } from '../services/contracts.ts';
import { services } from '../services/services.ts';

const readTemplate = (path: string) => readFile(new URL(`../charts/${path}`, import.meta.url), 'utf8');

test('only webhook-delivery may reach the networks of WEBHOOK_ALLOWED_CIDRS', async () => {
  const template = await readTemplate('service/templates/networkpolicy.yaml');
  const lines = template.split('\n').filter((line) => line.includes('WEBHOOK_ALLOWED_CIDRS'));
  expect(lines).toEqual([expect.stringContaining('(eq .Values.name "webhook-delivery")')]);
});

test('the schema of the chart does not accept an enabled flag of a service', () => {
  const { properties } = valuesSchema(services);
  for (const { name } of contracts) {
    expect(properties[name]).toMatchObject({ additionalProperties: false });
    expect(properties[name]).not.toHaveProperty('properties.enabled');
  }
});

test('the database setup Job requires the password of every service', async () => {
  const template = await readTemplate('platform/templates/database-setup.yaml');
  const [, list = ''] = /range list (.*) }}/.exec(template) ?? [];
  expect(JSON.parse(`[${list.split(' ')}]`).toSorted()).toEqual(contracts.map(({ name }) => name).toSorted());
  expect(template).toContain(
    'secretKeyRef: { name: {{ $.Values.databaseSetup.passwordsSecret }}, key: {{ $key }} }',
  );
  expect(template).not.toContain('envFrom');
});

test('a failed database setup Job keeps its pod, and so its log', async () => {
  expect(await readTemplate('platform/templates/database-setup.yaml')).toContain('restartPolicy: Never\n');
});

test('the database setup Job fails before helm stops waiting for it', async () => {
  const job = await readTemplate('platform/templates/database-setup.yaml');
  const helmTimeoutSeconds = 300;
  const [, limit] = /backoffLimit: (\d+)\n/.exec(job) ?? [];
  const [, deadline] = /activeDeadlineSeconds: (\d+)\n/.exec(job) ?? [];
  // Kubernetes waits for 10 seconds before the second attempt, and then twice as long each time
  const waitSeconds = 10 * (2 ** Number(limit) - 1);
  expect(waitSeconds).toBeLessThan(Number(deadline));
  expect(Number(deadline)).toBeLessThan(helmTimeoutSeconds);
});

test('all pods of the platform chart use the values for all pods', async () => {
  const helpers = (await readTemplate('platform/templates/_helpers.tpl')).split('{{- define ');
  const helper = helpers.find((one) => one.startsWith('"platform.pod"'));
  expect(helper).toMatch(/with \.Values\.global\.image\.pullSecrets }}\nimagePullSecrets: /);
  for (const name of ['nodeSelector', 'tolerations'])
    expect(helper).toContain(`{{- with .Values.global.${name} }}\n${name}: `);
  const folder = new URL('../charts/platform/templates/', import.meta.url);
  const names = (await readdir(folder, { recursive: true })).filter((name) => name.endsWith('.yaml'));
  const templates = await Promise.all(names.map((name) => readTemplate(`platform/templates/${name}`)));
  const pods = templates.filter((template) => template.includes('"platform.image"'));
  expect(pods.length).toBeGreaterThan(1);
  for (const pod of pods) expect(pod).toContain('include "platform.pod"');
});

test('the network policy of the database setup exists before its Job', async () => {
  const job = await readTemplate('platform/templates/database-setup.yaml');
  const [policy = ''] = (await readTemplate('platform/templates/networkpolicy.yaml')).split(/^---$/m);
  const [hook = ''] = /helm\.sh\/hook: .+/.exec(job) ?? [];
  expect(policy).toContain(`${hook}\n`);
  expect(job).not.toContain('helm.sh/hook-weight');
  expect(policy).toContain('helm.sh/hook-weight: "-1"\n');
  expect(policy).toContain('helm.sh/hook-delete-policy: before-hook-creation\n');
  // helm deletes the policy of 0.2.0, which has the name of the Job, after it has created this one
  expect(policy).toContain('name: {{ .Release.Name }}-database-setup-job\n');
});
