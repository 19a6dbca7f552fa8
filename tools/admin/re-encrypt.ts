/** Re-encrypts the secrets of services with the first key of ENCRYPTION_KEYS. */
import { type AnyService, createLog, securityLog, systemAuditEvent } from '#libs/service';
import type { ReencryptionResult } from '#libs/store';
import { services } from '../../services/services.ts';
import { type Command, WrongUsage } from './command.ts';
import { openServiceStore, readStoreSettings, type StoreSettings } from './service-store.ts';

const usage = `Re-encrypts all secrets that are not encrypted with the first key of ENCRYPTION_KEYS, while the services run.

  ENCRYPTION_KEYS=new,old MONGODB_URI=… npm run admin -- re-encrypt             all services, if the MongoDB user has all grants
  ENCRYPTION_KEYS=new,old MONGODB_URI=… npm run admin -- re-encrypt sharing     one service, with the user of that service

You can stop and repeat it at any time. It exits with 1 if a secret cannot be decrypted; this secret stays unchanged.

Services: ${services.map(({ contract }) => contract.name).join(', ')}`;

export const command: Command = {
  usage,
  async run(names) {
    const settings = readStoreSettings();
    const chosen = services.filter(({ contract }) => names.length === 0 || names.includes(contract.name));
    if (chosen.length < names.length) throw new WrongUsage('Unknown service.');
    await reencrypt(chosen, settings);
  },
};

async function reencrypt(chosen: readonly AnyService[], settings: StoreSettings): Promise<void> {
  const audit = securityLog(createLog({ level: 'info', format: 'json' }));
  let unopened = 0;
  let isDone = true;
  for (const service of chosen) {
    const store = await openServiceStore(service, settings);
    const results = await store.reencrypt().finally(() => store.close());
    for (const result of results) {
      print(service.contract.name, result);
      const { collection, field, count } = result;
      if (count > 0) audit(systemAuditEvent('secrets.reencrypt', 'operator', { collection, field, count }));
    }
    unopened += results.reduce((sum, result) => sum + result.unopened.length, 0);
    isDone &&= results.every(({ otherKeyInUse }) => !otherKeyInUse);
  }
  const names = chosen.map(({ contract }) => contract.name).join(', ');
  if (unopened > 0)
    console.error(
      `Could not decrypt ${unopened} secrets: their key is not in ENCRYPTION_KEYS, or they were altered.`,
    );
  if (!isDone)
    console.error(
      'A process still encrypts with another key. Give every process the new key first, then repeat.',
    );
  if (unopened > 0 || !isDone) throw new Error(`${names}: not all secrets are encrypted with the first key.`);
  console.log(`${names}: all secrets are encrypted with the first key.`);
}

function print(service: string, { collection, field, count, unopened }: ReencryptionResult): void {
  console.log(`${service.padEnd(18)}${`${collection}.${field}`.padEnd(40)}${count} re-encrypted`);
  for (const { id, reason } of unopened) console.error(`  ${collection} ${id}: ${reason}`);
}
