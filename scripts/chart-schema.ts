/** The JSON Schema of the platform chart's values: helm refuses what is misspelled, by name, before anything is changed. */
import { z } from 'zod';
import { type AnyService, commonSettings } from '#libs/service';

/** The schema; every setting of every service is in it by its name. */
export function valuesSchema(services: readonly AnyService[]) {
  const aliases = services.map(({ contract, settings }) => [
    contract.name,
    object({
      ...serviceValues,
      name: { const: contract.name },
      env: settingsOf(commonSettings, settings),
    }),
  ]);
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Values of the process-document-service chart',
    ...object({
      global: object({
        ...globalValues,
        env: settingsOf(commonSettings, ...services.map((one) => one.settings)),
      }),
      ingress: object({
        kind: { enum: ['traefik', 'nginx', 'haproxy', 'gateway', 'none'] },
        className: text,
        host: text,
        tlsSecret: text,
        annotations: texts,
        gateway: object({ name: text, namespace: text, sectionName: text }),
      }),
      databaseSetup: object({ enabled: flag, adminSecret: name, passwordsSecret: name }),
      ...Object.fromEntries(aliases),
    }),
  };
}

const text = { type: 'string' };
const name = { type: 'string', minLength: 1 };
const flag = { type: 'boolean' };
const count = { type: 'integer', minimum: 0 };
const anything = { type: 'object' };
const things = { type: 'array', items: anything };
const texts = { type: 'object', additionalProperties: text };

function object(properties: Readonly<Record<string, unknown>>) {
  return { type: 'object', additionalProperties: false, properties };
}

function peers(
  more: Readonly<Record<string, unknown>> = { port: { type: 'integer', minimum: 1, maximum: 65_535 } },
) {
  return object({ to: things, ...more });
}

const globalValues = {
  development: flag,
  image: object({
    repository: name,
    tag: text,
    digest: { type: 'string', pattern: '^(sha256:[0-9a-f]{64})?$' },
    pullPolicy: { enum: ['Always', 'IfNotPresent', 'Never'] },
    pullSecrets: things,
  }),
  caBundle: object({ configMap: text, key: name }),
  secrets: object({ encryption: name, amqp: name }),
  ingress: object({ namespaceLabels: texts, podLabels: texts }),
  monitoring: object({
    podMonitor: object({ enabled: flag }),
    labels: texts,
    prometheusRule: object({ enabled: flag }),
    dashboards: object({ enabled: flag, labels: texts }),
    namespaceLabels: texts,
  }),
  network: object({
    dns: peers({}),
    mongodb: peers(),
    amqp: peers(),
    traces: peers(),
    deniedCIDRs: { type: 'array', items: text },
  }),
};

const serviceValues = {
  global: anything,
  enabled: flag,
  replicas: count,
  databaseSecret: name,
  secretEnv: {
    type: 'array',
    items: {
      ...object({ name, secret: name, key: name, optional: flag }),
      required: ['name', 'secret', 'key'],
    },
  },
  resources: anything,
  autoscaling: object({
    type: { enum: ['cpu', 'keda', 'none'] },
    min: { type: 'integer', minimum: 1 },
    max: { type: 'integer', minimum: 1 },
    cpu: { type: 'integer', minimum: 1 },
    metrics: things,
    triggers: things,
  }),
  disruption: { type: ['object', 'null'] },
  network: object({ policies: flag, internet: flag, egress: things }),
  terminationGraceSeconds: count,
  preStopSleepSeconds: count,
  priorityClassName: text,
  nodeSelector: texts,
  tolerations: things,
  affinity: anything,
  podAnnotations: texts,
};

/** What comes from Secrets, or is the chart's own affair. */
const elsewhere = new Set([
  'MONGODB_URI',
  'AMQP_URL',
  'ENCRYPTION_KEYS',
  'OPS_TOKEN',
  'PORT',
  'MANAGEMENT_PORT',
  'HOST',
]);

function settingsOf(...shapes: readonly z.ZodObject[]) {
  const all = shapes.flatMap((shape) => {
    const { properties } = z.toJSONSchema(shape, { io: 'input', unrepresentable: 'any' });
    return Object.entries(properties ?? {});
  });
  const shown = all.filter(([setting]) => !elsewhere.has(setting));
  return object(Object.fromEntries(shown.map(([setting, of]) => [setting, shapeOf(of)])));
}

/** A setting as YAML may give it: numbers and flags also as such; null takes away what all services are told. */
function shapeOf(options: z.core.JSONSchema._JSONSchema) {
  const { description, enum: choices, pattern } = typeof options === 'object' ? options : {};
  if (choices) return { description, enum: [...choices, null] };
  const type = ['string', 'number', 'boolean', 'null'];
  return { description, type, ...(pattern !== undefined && { pattern }) };
}
