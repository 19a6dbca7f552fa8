/**
 * Generates the Deno permission flags of a service from its settings and the addresses in its environment.
 */
import { type AnyService, commonSettings, SettingsError } from '#libs/service';

/** Services that send requests to URLs of customers. Their SSRF guard restricts the addresses. */
const unrestrictedNetwork = new Set(['webhook-delivery']);

/** What every service reads at run time: its workers are threads, which load the code with the read permission. */
const code = ['services', 'libs', 'node_modules'];

/** Other files that a service reads. */
const otherReads: Record<string, readonly string[]> = {
  identity: ['docs/contracts/openapi.json'],
};

/**
 * Returns the flags for `deno run` in the project folder. Throws `SettingsError` if an address is invalid.
 */
export function denoPermissions(
  service: AnyService,
  environment: Record<string, string | undefined>,
): string[] {
  const { name } = service.contract;
  const variables = [...Object.keys(commonSettings.shape), ...Object.keys(service.settings.shape)].sort();
  const hosts = unrestrictedNetwork.has(name) ? '' : `=${getHosts(environment).join(',')}`;
  const files = [...code, ...(otherReads[name] ?? [])];
  return [
    '--no-prompt',
    `--allow-env=${variables.join(',')}`,
    // other variables are undefined instead of an error, because libraries read many names
    '--ignore-env',
    `--allow-net${hosts}`,
    // the MongoDB driver sends both to the server
    '--allow-sys=hostname,osRelease',
    `--allow-read=${files.join(',')}`,
  ];
}

/**
 * Returns the service's own addresses and the servers in its environment. `PDS_ALLOW_NET` adds more, for
 * example members of the replica set that are not in the address. The servers of a `mongodb+srv` address are
 * known only to DNS.
 */
function getHosts(environment: Record<string, string | undefined>): string[] {
  const { HOST = '0.0.0.0', PORT = '8080', MANAGEMENT_PORT = '9464', PDS_ALLOW_NET } = environment;
  const { MANAGEMENT_HOST = HOST } = environment;
  const more = PDS_ALLOW_NET?.split(',').filter(Boolean) ?? [];
  const isSrv = environment.MONGODB_URI?.startsWith('mongodb+srv:') ?? false;
  if (isSrv && more.length === 0) throw new SettingsError([srvMessage]);
  const found = [
    ...(isSrv ? [] : parseServers('MONGODB_URI', environment.MONGODB_URI, 27017)),
    ...parseServers('AMQP_URL', environment.AMQP_URL, 5672),
    ...parseServers('OTEL_EXPORTER_OTLP_ENDPOINT', environment.OTEL_EXPORTER_OTLP_ENDPOINT, 4318),
  ];
  return [...new Set([...found, `${HOST}:${PORT}`, `${MANAGEMENT_HOST}:${MANAGEMENT_PORT}`, ...more])];
}

const srvMessage =
  'MONGODB_URI: a mongodb+srv address does not contain its servers, but Deno needs them before it starts. Use ' +
  'mongodb://one,two,three/…, or list the servers and the DNS server in PDS_ALLOW_NET: one:27017,two:27017,10.0.0.2:53';

/** Parses the servers of an address. MongoDB addresses can contain several, which `URL` does not support. */
function parseServers(setting: string, address: string | undefined, defaultPort: number): string[] {
  if (!address) return [];
  const [, scheme = '', authority] = /^([a-z+]+):\/\/([^/?#]+)/.exec(address) ?? [];
  if (authority === undefined) throw new SettingsError([`${setting}: must be a URL`]);
  const port = { http: 80, https: 443, amqps: 5671 }[scheme] ?? defaultPort;
  const servers = authority.slice(authority.lastIndexOf('@') + 1).split(',');
  return servers.map((server) => (/:\d+$/.test(server) ? server : `${server}:${port}`));
}
