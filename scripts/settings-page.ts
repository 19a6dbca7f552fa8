/** Generates the page of all settings from their declarations. */
import { z } from 'zod';
import { commonSettings } from '#libs/service';
import type { services as allServices } from '../services/services.ts';
import memoryLimits from './memory-limits.json' with { type: 'json' };
import { renderPage, renderTable } from './page.ts';

const { EMBED_CACHE_MB, EXPORT_CACHE_MB } = memoryLimits.environment;

type Service = Pick<(typeof allServices)[number], 'contract' | 'settings'>;

/** Returns the page of all settings: those of every process, then those of each service. */
export function settingsPage(services: readonly Service[]): string {
  const section = (title: string, shape: z.ZodObject) => {
    const schema = z.toJSONSchema(shape, { io: 'input', unrepresentable: 'any' });
    const values = z.toJSONSchema(shape, { io: 'output', unrepresentable: 'any' });
    const rows = Object.entries(schema.properties ?? {}).map(([name, property]) => {
      const { description, enum: choices } = typeof property === 'object' ? property : {};
      const range = formatRange(values.properties?.[name]);
      const sentences = [description, choices && `One of ${choices.join(', ')}`, range].filter(Boolean);
      return [`\`${name}\``, formatDefault(shape.shape[name]), sentences.join('. ')];
    });
    return rows.length === 0 ? [] : [`## ${title}\n\n${renderTable(['name', 'default', 'meaning'], rows)}`];
  };
  const own = services.flatMap(({ contract, settings }) => section(contract.title, settings));
  const local = `A local run is \`npm start\` without \`MONGODB_URI\`. It differs as follows:

- It also reads \`DATA_DIR\` (default \`.data\`) and stores its data there.
- It generates its secrets at the first start and stores them there too.
- It always listens on \`127.0.0.1\`.
- It has other defaults: \`DEFAULT_PLAN=scale\`, \`WEBHOOK_ALLOW_INSECURE_TARGETS=true\`, \`LOG_FORMAT=pretty\`,
  \`DRAIN_SECONDS=3\`, \`APP_URL\` with the value of \`PORT\`, and 0 (no limit) for \`RATE_LIMIT_PER_MINUTE\`,
  \`REGISTRATIONS_PER_HOUR\`, \`LOGINS_PER_MINUTE\`, \`LOGIN_FAILURES_PER_15_MINUTES\` and
  \`EMBED_NOT_FOUND_RATE_LIMIT_PER_MINUTE\`.

With \`MONGODB_URI\`, the defaults in the tables apply. In both cases, \`npm start\` sets
\`EMBED_CACHE_MB=${EMBED_CACHE_MB}\` and \`EXPORT_CACHE_MB=${EXPORT_CACHE_MB}\`.`;
  return renderPage('Settings', [
    'All settings are environment variables. At startup, the process reports all invalid settings at once.',
    local,
    ...section('Every process', commonSettings),
    ...own,
  ]);
}

/** Formats the limits of a number that a reader would not expect. */
function formatRange(property: z.core.JSONSchema._JSONSchema | undefined): string | undefined {
  const { minimum = 0, maximum = Number.POSITIVE_INFINITY } = typeof property === 'object' ? property : {};
  const isLimited = maximum <= 65_535;
  if (minimum > 0 && isLimited) return `${minimum} to ${maximum}`;
  if (isLimited) return `At most ${maximum}`;
  return minimum > 0 ? `At least ${minimum}` : undefined;
}

/** Formats the default value of a setting. */
function formatDefault(setting: z.ZodType): string {
  const { success, data } = setting.safeParse(undefined);
  if (!success) return 'required';
  return data === undefined || (Array.isArray(data) && data.length === 0) ? 'unset' : `\`${data}\``;
}
