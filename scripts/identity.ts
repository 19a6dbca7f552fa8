/** What operators do with identity: `npm run identity -- rotate-keys`, with MONGODB_URI and ENCRYPTION_KEY as identity has them. */
import { Secret } from '#libs/contract';
import { memoryBus, topologyOf } from '#libs/events';
import { keyRing, openStore } from '#libs/store';
import { contracts } from '../services/contracts.ts';
import { identityContract } from '../services/identity/contract.ts';
import { signing } from '../services/identity/signing-keys.ts';
import { identityCollections } from '../services/identity/store/collections.ts';
import { credentials } from '../services/identity/store/credentials.ts';

const { MONGODB_URI, ENCRYPTION_KEY } = process.env;
const [command] = process.argv.slice(2);
if (command !== 'rotate-keys' || !MONGODB_URI || !ENCRYPTION_KEY) {
  console.error('Usage: MONGODB_URI=… ENCRYPTION_KEY=… npm run identity -- rotate-keys');
  process.exit(1);
}

const topology = topologyOf(contracts);
const ring = keyRing(new Secret(ENCRYPTION_KEY));
const now = () => new Date();
const store = await openStore({
  uri: new Secret(MONGODB_URI),
  contract: identityContract,
  collections: identityCollections,
  topology,
  bus: memoryBus(topology),
  alone: false,
  ring,
  now,
  trace: () => undefined,
  trouble: (what, error) => console.error(what, error),
});
try {
  const keys = signing({ credentials: credentials(store), ring, now, lifeSeconds: 900 });
  const kid = await keys.rotate();
  console.log(
    `The new signing key ${kid} is published; it signs in a minute. Tokens of the old one stay valid until they expire.`,
  );
} finally {
  await store.close();
}
