/** Rotates the signing key of access tokens. */
import { createLog, securityLog } from '#libs/service';
import { createTokenSigner } from '../../services/identity/accounts/signing-keys.ts';
import { identity } from '../../services/identity/service.ts';
import { sealedPrivate } from '../../services/identity/store/collections.ts';
import { signingKeyRepository } from '../../services/identity/store/signing-keys.ts';
import { type Command, WrongUsage } from './command.ts';
import { openServiceStore, readStoreSettings } from './service-store.ts';

const usage = `Publishes a new signing key for access tokens, which signs them one minute later.

  MONGODB_URI=… ENCRYPTION_KEYS=… npm run admin -- identity rotate-keys     with the settings of identity`;

export const command: Command = {
  usage,
  async run([action]) {
    if (action !== 'rotate-keys') throw new WrongUsage();
    await rotateKeys();
  },
};

async function rotateKeys(): Promise<void> {
  const store = await openServiceStore(identity, readStoreSettings());
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
}
