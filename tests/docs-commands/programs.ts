/** The programs that a page has you start in a terminal of their own: how to know them, and when they are ready. */
import { connect } from 'node:net';
import { contracts } from '../../services/contracts.ts';

/** The ports that the pages name, and the free ones that take their places. */
export type Ports = ReadonlyMap<number, number>;

/** A program that runs until it is stopped. */
export interface Program {
  /** A program of the same name takes its place. */
  name: string;
  isReady(printed: string): boolean | Promise<boolean>;
  /** Settings that put it on its free ports. */
  settings: Record<string, string>;
}

const firstServicePort = 8101;
const firstServiceManagementPort = 9501;
const [gatewayPort, managementPort, mongoPort, amqpPort, distributionPort, epmdPort] = [
  8080, 9464, 27017, 5672, 25672, 4369,
];

/** Every port that the pages or the programs on them use unless told otherwise. */
export const documentedPorts: readonly number[] = [
  ...[gatewayPort, managementPort, mongoPort, amqpPort, distributionPort, epmdPort],
  ...contracts.flatMap((_, at) => [firstServicePort + at, firstServiceManagementPort + at]),
];

/** The program that a block starts as its last command; undefined for a block that runs to its end. */
export function findProgram(text: string, ports: Ports): Program | undefined {
  const last = text.trim().split('\n').at(-1) ?? '';
  const portOf = (documented: number) => String(ports.get(documented));
  const service = /^npm run service(?::deno)? -- ([a-z-]+)$/.exec(last)?.[1];
  if (service !== undefined) {
    const at = contracts.findIndex(({ name }) => name === service);
    const settings = {
      PORT: portOf(firstServicePort + at),
      MANAGEMENT_PORT: portOf(firstServiceManagementPort + at),
    };
    return { name: service, isReady: (printed) => printed.includes('"msg":"Ready"'), settings };
  }
  if (last === 'npm start')
    return {
      name: 'npm start',
      isReady: (printed) => printed.includes('Ctrl-C stops everything'),
      settings: { PORT: portOf(gatewayPort), MANAGEMENT_PORT: portOf(managementPort) },
    };
  if (last === 'npm run gateway') {
    const urls = contracts.map(({ name }, at) => [
      `${name.toUpperCase().replaceAll('-', '_')}_URL`,
      `http://127.0.0.1:${portOf(firstServicePort + at)}`,
    ]);
    const settings = { PORT: portOf(gatewayPort), ...Object.fromEntries(urls) };
    return { name: 'gateway', isReady: (printed) => printed.includes('The gateway joins'), settings };
  }
  if (/^mongod /.test(last))
    return { name: 'mongod', isReady: () => listens(Number(portOf(mongoPort))), settings: {} };
  if (/\/rabbitmq-server$/.test(last))
    return {
      name: 'rabbitmq-server',
      isReady: (printed) => printed.includes('Starting broker... completed'),
      settings: { RABBITMQ_DIST_PORT: portOf(distributionPort), ERL_EPMD_PORT: portOf(epmdPort) },
    };
  return undefined;
}

function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.on('connect', () => resolve(true)).on('error', () => resolve(false));
    socket.on('connect', () => socket.destroy());
  });
}
