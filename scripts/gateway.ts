/** Joins the five services on one port (`npm run gateway`), for local work and tests; in a cluster the ingress does this. */
import { gateway, listen, type UnmatchedRequest } from '#libs/http';
import { formatError, onStopSignal, SettingsError } from '#libs/service';
import { apiPrefix, contracts } from '../services/contracts.ts';
import { localServices } from './local-service.ts';

const { HOST = '127.0.0.1' } = process.env;

try {
  const { port, addresses } = settingsIn(process.env);
  const onError = (what: string, error: unknown) => console.error(`${what}: ${formatError(error)}`);
  const unmatched = ({ method, path, status, requestId }: UnmatchedRequest) =>
    console.error(`No service has this path: ${method} ${path} (${status}, request ${requestId})`);
  const app = gateway({ contracts, apiPrefix, addresses, unmatched, onError });
  const listening = await listen(app, port, HOST);
  onStopSignal(() => listening.close(25_000));
  console.log(`The gateway joins ${contracts.length} services on http://${HOST}:${listening.port}`);
} catch (error) {
  console.error(formatError(error));
  process.exitCode = 1;
}

/** `PORT`, and where the services answer: `DOCUMENTS_URL`, `WEBHOOK_DELIVERY_URL` and so on, else where `npm run service` puts them. */
function settingsIn(environment: NodeJS.ProcessEnv) {
  const mistakes: string[] = [];
  const { PORT = '8080' } = environment;
  if (!/^\d{1,5}$/.test(PORT) || Number(PORT) > 65_535) mistakes.push('PORT: must be a number up to 65535');
  const addresses = localServices({}).map(({ name, environment: { PORT: port } }) => {
    const setting = `${name.toUpperCase().replaceAll('-', '_')}_URL`;
    const address = environment[setting] || `http://127.0.0.1:${port}`;
    if (!/^http:\/\/[^/?#]+\/?$/.test(address) || !URL.canParse(address))
      mistakes.push(`${setting}: must be an origin such as http://127.0.0.1:${port}`);
    return [name, address];
  });
  if (mistakes.length > 0) throw new SettingsError(mistakes);
  return { port: Number(PORT), addresses: Object.fromEntries(addresses) };
}
