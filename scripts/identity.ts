/**
 * Rotates the signing key: `npm run identity -- rotate-keys`, with MONGODB_URI and ENCRYPTION_KEYS of
 * identity.
 */
import { createLog, securityLog } from '#libs/service';
import { createTokenSigner } from '../services/identity/accounts/signing-keys.ts';
import { identity } from '../services/identity/service.ts';
import { sealedPrivate } from '../services/identity/store/collections.ts';
import { signingKeyRepository } from '../services/identity/store/signing-keys.ts';
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
  const auditLog = securityLog(createLog({ level: 'info', format: 'json' }));
  const keys = createTokenSigner({
    signingKeys: signingKeyRepository(store),
    sealing,
    securityLog: auditLog,
    now,
    accessTokenSeconds: 900,
  });
  const kid = await keys.rotate('operator');
  console.log(
    `Published the new signing key ${kid}. It signs new tokens in one minute. Existing tokens stay valid until they expire.`,
  );
} finally {
  await store.close();
}
