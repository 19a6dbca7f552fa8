/** Checks the invariants of the database. */
import { parseArgs } from 'node:util';
import { Secret } from '#libs/contract';
import { createKeyring, type Keyring, openDatabase } from '#libs/store';
import { type Command, WrongUsage } from './command.ts';
import { findBrokenInvariants, formatBrokenInvariant } from './verify/broken-invariants.ts';
import { invariants } from './verify/invariants.ts';

const usage = `Checks the database for rows that contradict each other, and prints one line for each broken invariant.
It only reads, and the services may run meanwhile.
With ENCRYPTION_KEYS it also checks whether these keys decrypt every stored secret.

  npm run admin -- verify --uri mongodb://auditor:…@host/process_documents?replicaSet=…
  MONGODB_URI=… npm run verify                              the same; the URI is not in the process list
  ENCRYPTION_KEYS=… MONGODB_URI=… npm run verify            also the secrets, with the setting of the services
  MONGODB_URI=… npm run verify -- --grace-minutes 0         also counts open work; for services that have no work
  MONGODB_URI=… npm run verify -- nodes. documents.status   the invariants whose names begin like this

The MongoDB user needs the role \`read\` on the database. Work in the background, such as a webhook delivery, counts
only if it has been open for longer than the grace period, by default 60 minutes. The exit code is 0 if all invariants
hold, otherwise 1. docs/invariants.md lists them.`;

export const command: Command = {
  usage,
  async run(args) {
    const { values, positionals } = parseArgs({
      ...{ args, allowPositionals: true },
      options: { uri: { type: 'string' }, 'grace-minutes': { type: 'string', default: '60' } },
    });
    const graceMinutes = Number(values['grace-minutes']);
    if (!(graceMinutes >= 0)) throw new WrongUsage('--grace-minutes needs a number of minutes.');
    const uri = values.uri ?? process.env.MONGODB_URI;
    if (!uri) throw new WrongUsage('--uri or MONGODB_URI is required.');
    const isChosen = (name: string) => positionals.some((beginning) => name.startsWith(beginning));
    const chosen = invariants.filter(({ name }) => positionals.length === 0 || isChosen(name));
    if (chosen.length === 0) throw new WrongUsage(`No invariant begins with ${positionals.join(' or ')}.`);
    const keys = process.env.ENCRYPTION_KEYS;
    const keyring = keys ? createKeyring(new Secret(keys)) : undefined;
    const checked = chosen.filter(({ needsKeys }) => keyring || !needsKeys);
    if (checked.length === 0)
      throw new WrongUsage('ENCRYPTION_KEYS is required to check the stored secrets.');
    if (checked.length < chosen.length)
      console.log('ENCRYPTION_KEYS is not set: whether its keys decrypt the stored secrets is not checked.');
    await verify(checked, { uri: new Secret(uri), graceMs: graceMinutes * 60_000, keyring });
  },
};

async function verify(
  chosen: typeof invariants,
  { uri, graceMs, keyring }: { uri: Secret; graceMs: number; keyring: Keyring | undefined },
): Promise<void> {
  const { db, close } = await openDatabase(uri, 'verify');
  let broken = 0;
  try {
    for await (const one of findBrokenInvariants(db, chosen, { now: new Date(), graceMs, keyring })) {
      broken += 1;
      console.log(formatBrokenInvariant(one));
    }
  } finally {
    await close();
  }
  if (broken > 0) throw new Error(`${broken} of ${chosen.length} invariants are broken.`);
  console.log(`All ${chosen.length} invariants hold.`);
}
