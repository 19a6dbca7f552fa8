/** Seals anew, with the first key of ENCRYPTION_KEYS, what services keep sealed: `npm run re-encrypt -- <service>…`. */
import { createLog, formatError, securityLog, systemAuditEvent } from '#libs/service';
import type { ReencryptionResult } from '#libs/store';
import { services } from '../services/services.ts';
import { ownedStore, type StoreSettings } from './owned-store.ts';

const usage = `Seals everything anew that is sealed with another key than the first of ENCRYPTION_KEYS, while the services run.

  ENCRYPTION_KEYS=new,old MONGODB_URI=… npm run re-encrypt                      all services, where one MongoDB user has all rights
  ENCRYPTION_KEYS=new,old MONGODB_URI=… npm run re-encrypt -- sharing           one service, with the user of that service

May be stopped and repeated at any time. Exits with 1 when something cannot be opened: it stays as it is.`;

const { MONGODB_URI, ENCRYPTION_KEYS } = process.env;
const asked = process.argv.slice(2);
const chosen = services.filter(({ contract }) => asked.length === 0 || asked.includes(contract.name));

if (!MONGODB_URI || !ENCRYPTION_KEYS || (asked.length > 0 && chosen.length < asked.length)) {
  console.error(`${usage}\n\nServices: ${services.map(({ contract }) => contract.name).join(', ')}`);
  process.exitCode = 1;
} else {
  await sealAnew({ MONGODB_URI, ENCRYPTION_KEYS }).catch((error: unknown) => {
    console.error(formatError(error));
    process.exitCode = 1;
  });
}

async function sealAnew(settings: StoreSettings): Promise<void> {
  const audited = securityLog(createLog({ level: 'info', format: 'json' }));
  let unopened = 0;
  let isDone = true;
  for (const service of chosen) {
    const store = await ownedStore(service, settings);
    const results = await store.reencrypt().finally(() => store.close());
    for (const result of results) {
      tell(service.contract.name, result);
      const { collection, field, count } = result;
      if (count > 0) audited(systemAuditEvent('secrets.reseal', 'operator', { collection, field, count }));
    }
    unopened += results.reduce((sum, result) => sum + result.unopened.length, 0);
    isDone &&= results.every(({ otherKeyInUse }) => !otherKeyInUse);
  }
  const names = chosen.map(({ contract }) => contract.name).join(', ');
  if (unopened > 0)
    console.error(`${unopened} cannot be opened: their key is not in ENCRYPTION_KEYS, or they were altered.`);
  if (!isDone)
    console.error(
      'A process goes on sealing with another key: let every process have the new key first, then repeat.',
    );
  if (unopened === 0 && isDone) console.log(`${names}: everything is sealed with the first key.`);
  else process.exitCode = 1;
}

function tell(service: string, { collection, field, count, unopened }: ReencryptionResult): void {
  console.log(`${service.padEnd(18)}${`${collection}.${field}`.padEnd(40)}${count} sealed anew`);
  for (const { id, reason } of unopened) console.error(`  ${collection} ${id}: ${reason}`);
}
