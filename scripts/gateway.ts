/**
 * Serves the five services on one port (`npm run gateway`), for development and tests. In a cluster the
 * ingress does this.
 */
import { gateway, listen, type UnmatchedRequest } from '#libs/http';
import { formatError, onStopSignal, SettingsError } from '#libs/service';
import { apiPrefix, contracts } from '../services/contracts.ts';
import { localServices } from './local-service.ts';

const { HOST = '127.0.0.1' } = process.env;

try {
  const { port, addresses } = parseSettings(process.env);
  const onError = (message: string, error: unknown) => console.error(`${message}: ${formatError(error)}`);
  const unmatched = ({ method, path, status, requestId }: UnmatchedRequest) =>
    console.error(`No service has this path: ${method} ${path} (${status}, request ${requestId})`);
  const app = gateway({ contracts, apiPrefix, addresses, unmatched, onError });
  const listening = await listen(app, port, HOST);
  onStopSignal(() => listening.close(25_000));
  console.log(`The gateway serves ${contracts.length} services on http://${HOST}:${listening.port}`);
} catch (error) {
  console.error(formatError(error));
  process.exitCode = 1;
}

/**
 * Parses `PORT` and the URLs of the services (`DOCUMENTS_URL`, `WEBHOOK_DELIVERY_URL` and so on). The default
 * URLs are those of `npm run service`.
 */
function parseSettings(environment: NodeJS.ProcessEnv) {
  const errors: string[] = [];
  const { PORT = '8080' } = environment;
  if (!/^\d{1,5}$/.test(PORT) || Number(PORT) > 65_535) errors.push('PORT: must be a number up to 65535');
  const addresses = localServices({}).map(({ name, environment: { PORT: port } }) => {
    const setting = `${name.toUpperCase().replaceAll('-', '_')}_URL`;
    const address = environment[setting] || `http://127.0.0.1:${port}`;
    if (!/^http:\/\/[^/?#]+\/?$/.test(address) || !URL.canParse(address))
      errors.push(`${setting}: must be an origin such as http://127.0.0.1:${port}`);
    return [name, address];
  });
  if (errors.length > 0) throw new SettingsError(errors);
  return { port: Number(PORT), addresses: Object.fromEntries(addresses) };
}
