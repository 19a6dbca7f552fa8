/** What a service may do under Deno, as flags: made from its settings and the addresses in its environment, nothing beyond. */
import { type AnyService, commonSettings, SettingsError } from '#libs/service';

/** Who talks to addresses that customers choose; its own guard decides which of them. */
const reachesAnywhere = new Set(['webhook-delivery']);

/** Files that a service reads while it runs; its modules need no permission. */
const reads: Record<string, readonly string[]> = {
  identity: ['node_modules/swagger-ui-dist'],
  // its threads load their modules anew, which counts as reading
  export: ['services', 'libs', 'node_modules'],
  sharing: ['services/sharing/page'],
};

/** The flags for `deno run`, in the folder of the project. Throws a `SettingsError` where an address cannot be understood. */
export function denoPermissions(
  service: AnyService,
  environment: Record<string, string | undefined>,
): string[] {
  const { name } = service.contract;
  const variables = [...Object.keys(commonSettings.shape), ...Object.keys(service.settings.shape)].sort();
  const hosts = reachesAnywhere.has(name) ? '' : `=${hostsOf(environment).join(',')}`;
  const files = reads[name] ?? [];
  return [
    '--no-prompt',
    `--allow-env=${variables.join(',')}`,
    // what is not listed is not there, instead of an error: libraries ask for many names
    '--ignore-env',
    `--allow-net${hosts}`,
    // the MongoDB driver introduces itself by them
    '--allow-sys=hostname,osRelease',
    ...(files.length > 0 ? [`--allow-read=${files.join(',')}`] : []),
  ];
}

/**
 * Where a service listens, and the servers that its environment names; `PDS_ALLOW_NET` adds more, e.g. members of the
 * replica set that the address leaves out. Which servers are behind a `mongodb+srv` only the name servers say.
 */
function hostsOf(environment: Record<string, string | undefined>): string[] {
  const { HOST = '0.0.0.0', PORT = '8080', MANAGEMENT_PORT = '9464', PDS_ALLOW_NET } = environment;
  const more = PDS_ALLOW_NET?.split(',').filter(Boolean) ?? [];
  const isHidden = environment.MONGODB_URI?.startsWith('mongodb+srv:') ?? false;
  if (isHidden && more.length === 0) throw new SettingsError([hiddenServers]);
  const found = [
    ...(isHidden ? [] : serversIn('MONGODB_URI', environment.MONGODB_URI, 27017)),
    ...serversIn('AMQP_URL', environment.AMQP_URL, 5672),
    ...serversIn('OTEL_EXPORTER_OTLP_ENDPOINT', environment.OTEL_EXPORTER_OTLP_ENDPOINT, 4318),
  ];
  return [...new Set([...found, `${HOST}:${PORT}`, `${HOST}:${MANAGEMENT_PORT}`, ...more])];
}

const hiddenServers =
  'MONGODB_URI: mongodb+srv says its servers only by DNS, and Deno must know them before it starts: write ' +
  'mongodb://one,two,three/…, or list them and the name server in PDS_ALLOW_NET, as in one:27017,two:27017,10.0.0.2:53';

/** The servers of an address; MongoDB's may name several, which `URL` cannot read. */
function serversIn(setting: string, address: string | undefined, usualPort: number): string[] {
  if (!address) return [];
  const [, scheme = '', authority] = /^([a-z+]+):\/\/([^/?#]+)/.exec(address) ?? [];
  if (authority === undefined) throw new SettingsError([`${setting}: is no address`]);
  const port = { http: 80, https: 443, amqps: 5671 }[scheme] ?? usualPort;
  const servers = authority.slice(authority.lastIndexOf('@') + 1).split(',');
  return servers.map((server) => (/:\d+$/.test(server) ? server : `${server}:${port}`));
}
