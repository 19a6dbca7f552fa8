/**
 * Generates the JSON Schema of the platform chart's values. With it, helm rejects misspelled names before any
 * change.
 */
import { z } from 'zod';
import { type AnyService, commonSettings } from '#libs/service';

/** Creates the schema. It contains every setting of every service. */
export function valuesSchema(services: readonly AnyService[]) {
  const aliases = services.map(({ contract, settings }) => [
    contract.name,
    object({
      ...serviceValues,
      name: { const: contract.name },
      env: settingsSchema(commonSettings, settings),
    }),
  ]);
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Values of the process-document-service chart',
    ...object({
      global: object({
        ...globalValues,
        env: settingsSchema(commonSettings, ...services.map(({ settings }) => settings)),
      }),
      ingress: object({
        kind: { enum: ['traefik', 'nginx', 'haproxy', 'gateway', 'none'] },
        className: text,
        host: text,
        tlsSecret: text,
        annotations: textMap,
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
const anyObject = { type: 'object' };
const objectList = { type: 'array', items: anyObject };
const textMap = { type: 'object', additionalProperties: text };

function object(properties: Readonly<Record<string, unknown>>) {
  return { type: 'object', additionalProperties: false, properties };
}

function peers(
  more: Readonly<Record<string, unknown>> = { port: { type: 'integer', minimum: 1, maximum: 65_535 } },
) {
  return object({ to: objectList, ...more });
}

const globalValues = {
  development: flag,
  image: object({
    repository: name,
    tag: text,
    digest: { type: 'string', pattern: '^(sha256:[0-9a-f]{64})?$' },
    pullPolicy: { enum: ['Always', 'IfNotPresent', 'Never'] },
    pullSecrets: objectList,
  }),
  nodeSelector: textMap,
  tolerations: objectList,
  caBundle: object({ configMap: text, key: name }),
  secrets: object({ encryption: name, amqp: name }),
  ingress: object({
    namespaceLabels: textMap,
    podLabels: textMap,
    // a prefix of 0 bits would trust every caller
    cidrs: { type: 'array', items: { type: 'string', pattern: '^[0-9a-fA-F.:]+/[1-9][0-9]{0,2}$' } },
  }),
  monitoring: object({
    podMonitor: object({ enabled: flag }),
    labels: textMap,
    prometheusRule: object({ enabled: flag }),
    runbookUrl: name,
    dashboards: object({ enabled: flag, labels: textMap }),
    namespaceLabels: textMap,
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
  global: anyObject,
  replicas: count,
  databaseSecret: name,
  secretEnv: {
    type: 'array',
    items: {
      ...object({ name, secret: name, key: name, optional: flag }),
      required: ['name', 'secret', 'key'],
    },
  },
  resources: anyObject,
  autoscaling: object({
    type: { enum: ['cpu', 'keda', 'none'] },
    min: { type: 'integer', minimum: 1 },
    max: { type: 'integer', minimum: 1 },
    cpu: { type: 'integer', minimum: 1 },
    metrics: objectList,
    triggers: objectList,
  }),
  disruption: { type: ['object', 'null'] },
  network: object({ policies: flag, internet: flag, egress: objectList }),
  terminationGraceSeconds: count,
  preStopSleepSeconds: count,
  priorityClassName: text,
  nodeSelector: textMap,
  tolerations: objectList,
  affinity: anyObject,
  podAnnotations: textMap,
};

/** Settings that come from Secrets or that the chart sets itself. */
const excludedSettings = new Set([
  'MONGODB_URI',
  'AMQP_URL',
  'ENCRYPTION_KEYS',
  'OPS_TOKEN',
  'PORT',
  'MANAGEMENT_PORT',
  'HOST',
  'MANAGEMENT_HOST',
  'TRUSTED_PROXIES',
]);

function settingsSchema(...shapes: readonly z.ZodObject[]) {
  const all = shapes.flatMap((shape) => {
    const { properties } = z.toJSONSchema(shape, { io: 'input', unrepresentable: 'any' });
    return Object.entries(properties ?? {});
  });
  const included = all.filter(([setting]) => !excludedSettings.has(setting));
  return object(
    Object.fromEntries(included.map(([setting, property]) => [setting, settingSchema(property)])),
  );
}

/**
 * Creates the schema of a setting. YAML numbers and booleans are allowed; null removes a value of
 * `global.env`.
 */
function settingSchema(property: z.core.JSONSchema._JSONSchema) {
  const { description, enum: choices, pattern } = typeof property === 'object' ? property : {};
  if (choices) return { description, enum: [...choices, null] };
  const type = ['string', 'number', 'boolean', 'null'];
  return { description, type, ...(pattern !== undefined && { pattern }) };
}
