/** The long-running programs that pages start: how to recognize them, and when they are ready. */
import { connect } from 'node:net';
import { contracts } from '../../services/contracts.ts';

/** Maps ports in the documentation to the free ports that replace them. */
export type Ports = ReadonlyMap<number, number>;

/** A long-running program. */
export interface Program {
  /** Starting a program stops the running one of the same name. */
  name: string;
  isReady(printed: string): boolean | Promise<boolean>;
  /** Describes its state if it does not become ready. */
  diagnose?(): Promise<string>;
  /** Settings with its free ports. */
  settings: Record<string, string>;
}

const firstServicePort = 8101;
const firstServiceManagementPort = 9501;
const [gatewayPort, managementPort, mongoPort, amqpPort, distributionPort, epmdPort] = [
  8080, 9464, 27017, 5672, 25672, 4369,
];

/** Every port that the pages name or that their programs use by default. */
export const documentedPorts: readonly number[] = [
  ...[gatewayPort, managementPort, mongoPort, amqpPort, distributionPort, epmdPort],
  ...contracts.flatMap((_, at) => [firstServicePort + at, firstServiceManagementPort + at]),
];

/** The program that a block's last command starts; undefined if the block only runs commands that end. */
export function findProgram(text: string, ports: Ports): Program | undefined {
  const last = text.trim().split('\n').at(-1) ?? '';
  const getPort = (documented: number) => String(ports.get(documented));
  const service = /^npm run service(?::deno)? -- ([a-z-]+)$/.exec(last)?.[1];
  if (service !== undefined) {
    const at = contracts.findIndex(({ name }) => name === service);
    const settings = {
      PORT: getPort(firstServicePort + at),
      MANAGEMENT_PORT: getPort(firstServiceManagementPort + at),
    };
    const isReady = (printed: string) => printed.includes('"msg":"Ready"');
    const diagnose = () => readText(`http://127.0.0.1:${settings.MANAGEMENT_PORT}/readyz`);
    return { name: service, isReady, diagnose, settings };
  }
  if (last === 'npm start')
    return {
      name: 'npm start',
      isReady: (printed) => printed.includes('Press Ctrl-C to stop everything'),
      settings: { PORT: getPort(gatewayPort), MANAGEMENT_PORT: getPort(managementPort) },
    };
  if (last === 'npm run gateway') {
    const urls = contracts.map(({ name }, at) => [
      `${name.toUpperCase().replaceAll('-', '_')}_URL`,
      `http://127.0.0.1:${getPort(firstServicePort + at)}`,
    ]);
    const settings = { PORT: getPort(gatewayPort), ...Object.fromEntries(urls) };
    return { name: 'gateway', isReady: (printed) => printed.includes('The gateway serves'), settings };
  }
  if (/^mongod /.test(last))
    return { name: 'mongod', isReady: () => listens(Number(getPort(mongoPort))), settings: {} };
  if (/\/rabbitmq-server$/.test(last))
    return {
      name: 'rabbitmq-server',
      isReady: (printed) => printed.includes('Starting broker... completed'),
      settings: { RABBITMQ_DIST_PORT: getPort(distributionPort), ERL_EPMD_PORT: getPort(epmdPort) },
    };
  return undefined;
}

/** Reads a URL. Returns the error as text if that fails. */
function readText(url: string): Promise<string> {
  return fetch(url, { signal: AbortSignal.timeout(10_000) }).then((response) => response.text(), String);
}

function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.on('connect', () => resolve(true)).on('error', () => resolve(false));
    socket.on('connect', () => socket.destroy());
  });
}
