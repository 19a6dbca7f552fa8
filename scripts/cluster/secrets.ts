/** Creates the Secrets of a development cluster. Existing Secrets stay unchanged. */
import { randomBytes } from 'node:crypto';
import { contracts } from '../../services/contracts.ts';
import type { Cluster } from './tools.ts';

const database = 'process_documents';
const prefix = 'process-document-service';

/**
 * Creates missing Secrets with random passwords and the addresses of MongoDB and RabbitMQ in k8s/. Returns
 * the names of the created Secrets.
 */
export async function createMissingSecrets(cluster: Cluster): Promise<string[]> {
  const created: string[] = [];
  /** Returns the data of a Secret. Creates the Secret if it does not exist. */
  const getOrCreate = async <T extends Record<string, string>>(name: string, create: () => T): Promise<T> => {
    const found = await cluster.get('secret', name);
    if (found) {
      const data = Object.entries<string>(found.data).map(([key, value]) => [
        key,
        Buffer.from(value, 'base64').toString(),
      ]);
      // the Secret was created here, or manually with the same keys
      return Object.fromEntries(data) as T;
    }
    const stringData = create();
    await cluster.apply([{ apiVersion: 'v1', kind: 'Secret', metadata: { name }, stringData }]);
    created.push(name);
    return stringData;
  };

  const mongodb = await getOrCreate('mongodb', () => ({
    keyfile: randomBytes(500).toString('base64'),
    'admin-password': createPassword(),
  }));
  const rabbitmq = await getOrCreate('rabbitmq', () => {
    const generated = createPassword();
    return { password: generated, 'rabbitmq.conf': `default_user = services\ndefault_pass = ${generated}\n` };
  });
  const passwords = await getOrCreate(`${prefix}-passwords`, () =>
    Object.fromEntries(contracts.map(({ name }) => [passwordKey(name), createPassword()])),
  );
  const host = `mongodb-0.mongodb.${cluster.namespace}.svc.cluster.local:27017`;
  const uri = (user: string, pass: string, more = '') =>
    `mongodb://${user}:${pass}@${host}/${database}?replicaSet=rs0${more}`;
  await getOrCreate(`${prefix}-admin`, () => ({
    uri: uri('admin', mongodb['admin-password'], '&authSource=admin'),
  }));
  for (const { name } of contracts)
    await getOrCreate(`${prefix}-${name}`, () => ({ uri: uri(name, passwords[passwordKey(name)] ?? '') }));
  await getOrCreate(`${prefix}-amqp`, () => ({ url: `amqp://services:${rabbitmq.password}@rabbitmq:5672` }));
  await getOrCreate(`${prefix}-encryption`, () => ({ key: randomBytes(32).toString('base64') }));
  await getOrCreate(`${prefix}-ops`, () => ({ token: createPassword() }));
  return created;
}

function passwordKey(service: string): string {
  return `${service.toUpperCase().replaceAll('-', '_')}_PASSWORD`;
}

function createPassword(): string {
  return randomBytes(24).toString('base64url');
}
