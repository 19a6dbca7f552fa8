/**
 * Rotates the signing key: `npm run identity -- rotate-keys`, with MONGODB_URI and ENCRYPTION_KEYS of
 * identity.
 */
import { newLog, securityLog } from '#libs/service';
import { identity } from '../services/identity/service.ts';
import { signing } from '../services/identity/signing-keys.ts';
import { sealedPrivate } from '../services/identity/store/collections.ts';
import { credentials } from '../services/identity/store/credentials.ts';
import { openServiceStore } from './service-store.ts';

const { MONGODB_URI, ENCRYPTION_KEYS } = process.env;
const [command] = process.argv.slice(2);
if (command !== 'rotate-keys' || !MONGODB_URI || !ENCRYPTION_KEYS) {
  console.error('Usage: MONGODB_URI=… ENCRYPTION_KEYS=… npm run identity -- rotate-keys');
  process.exit(1);
}

const store = await openServiceStore(identity, { MONGODB_URI, ENCRYPTION_KEYS });
try {
  const sealing = store.sealing(sealedPrivate);
  const now = () => new Date();
  const audited = securityLog(newLog({ level: 'info', format: 'json' }));
  const keys = signing({ credentials: credentials(store), sealing, audited, now, lifeSeconds: 900 });
  const kid = await keys.rotate('operator');
  console.log(
    `Published the new signing key ${kid}. It signs new tokens in one minute. Existing tokens stay valid until they expire.`,
  );
} finally {
  await store.close();
}
