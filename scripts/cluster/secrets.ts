/** Makes the Secrets that a development cluster needs; what is there already stays as it is. */
import { randomBytes } from 'node:crypto';
import { contracts } from '../../services/contracts.ts';
import type { Cluster } from './tools.ts';

const database = 'process_documents';
const ours = 'process-document-service';

/** Makes what is missing, at random, with addresses of the MongoDB and the RabbitMQ of k8s/. Gives the names of what was made. */
export async function keepSecrets(cluster: Cluster): Promise<string[]> {
  const made: string[] = [];
  /** A Secret as it is, or as it is made now. */
  const kept = async <T extends Record<string, string>>(name: string, make: () => T): Promise<T> => {
    const found = await cluster.get('secret', name);
    if (found) {
      const data = Object.entries<string>(found.data).map(([key, value]) => [
        key,
        Buffer.from(value, 'base64').toString(),
      ]);
      // it was made here, or by hand with the keys that are asked for
      return Object.fromEntries(data) as T;
    }
    const stringData = make();
    await cluster.apply([{ apiVersion: 'v1', kind: 'Secret', metadata: { name }, stringData }]);
    made.push(name);
    return stringData;
  };

  const mongodb = await kept('mongodb', () => ({
    keyfile: randomBytes(500).toString('base64'),
    'admin-password': password(),
  }));
  const rabbitmq = await kept('rabbitmq', () => {
    const given = password();
    return { password: given, 'rabbitmq.conf': `default_user = services\ndefault_pass = ${given}\n` };
  });
  const passwords = await kept(`${ours}-passwords`, () =>
    Object.fromEntries(contracts.map(({ name }) => [passwordOf(name), password()])),
  );
  const host = `mongodb-0.mongodb.${cluster.namespace}.svc.cluster.local:27017`;
  const uri = (user: string, pass: string, more = '') =>
    `mongodb://${user}:${pass}@${host}/${database}?replicaSet=rs0${more}`;
  await kept(`${ours}-admin`, () => ({ uri: uri('admin', mongodb['admin-password'], '&authSource=admin') }));
  for (const { name } of contracts)
    await kept(`${ours}-${name}`, () => ({ uri: uri(name, passwords[passwordOf(name)] ?? '') }));
  await kept(`${ours}-amqp`, () => ({ url: `amqp://services:${rabbitmq.password}@rabbitmq:5672` }));
  await kept(`${ours}-encryption`, () => ({ key: randomBytes(32).toString('base64') }));
  await kept(`${ours}-ops`, () => ({ token: password() }));
  return made;
}

function passwordOf(service: string): string {
  return `${service.toUpperCase().replaceAll('-', '_')}_PASSWORD`;
}

function password(): string {
  return randomBytes(24).toString('base64url');
}
