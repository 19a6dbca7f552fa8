/**
 * Re-encryption: seals fields with the newest key that were sealed with another key, while services are
 * running.
 */
import type mongoose from 'mongoose';
import type { Keyring } from './keyring.ts';
import type { SealedField } from './sealed-field.ts';

/** The result for one sealed field. */
export interface ReencryptionResult {
  collection: string;
  field: string;
  /** The number of texts that were re-encrypted with the newest key. */
  count: number;
  /** The texts that no key in the keyring opens. They stay unchanged. */
  unopened: { id: string; reason: string }[];
  /** Whether a process still seals with another key. Restart it with the new key order first. */
  otherKeyInUse: boolean;
}

/** The parts of a collection that re-encryption needs. */
interface SealedCollection {
  readonly name: string;
  readonly sealed: readonly SealedField<never>[];
}

/** A row of any collection, as the driver returns it. */
type Row = { _id: string };
type Rows = mongoose.mongo.Collection<Row>;

/**
 * The maximum number of passes over the rows. A further pass is needed if a service changed some of them
 * meanwhile.
 */
const maxPasses = 5;

/**
 * Re-encrypts the sealed fields of a collection. A text is replaced only if it has not changed since it was
 * read. Texts with the newest key are skipped, so you can stop and repeat this at any time.
 */
export async function reencrypt(
  db: mongoose.mongo.Db,
  { sealed, name }: SealedCollection,
  keyring: Keyring,
): Promise<ReencryptionResult[]> {
  const results: ReencryptionResult[] = [];
  for (const field of sealed)
    results.push({
      collection: name,
      field: field.path,
      ...(await reencryptField(db.collection<Row>(name), field, keyring)),
    });
  return results;
}

async function reencryptField(rows: Rows, field: SealedField<never>, keyring: Keyring) {
  let count = 0;
  for (let passes = 1; ; passes += 1) {
    const pass = await runPass(rows, field, keyring);
    count += pass.count;
    const isLast = pass.count + pass.missed === 0;
    if (isLast || passes === maxPasses) return { count, unopened: pass.unopened, otherKeyInUse: !isLast };
  }
}

async function runPass(rows: Rows, { path, context }: SealedField<never>, keyring: Keyring) {
  const pass = { count: 0, missed: 0, unopened: [] as ReencryptionResult['unopened'] };
  // a sealed text starts with the name of its key
  const otherKey = new RegExp(`^(?!${keyring.newest}\\.)`);
  for await (const row of rows
    .find({ [path]: otherKey })
    .sort({ _id: 1 })
    .batchSize(50)) {
    // the row is of the collection that declares the field, so it has the context's fields
    const fieldContext = context(row as never);
    for (const [at, text] of findTexts(row, path.split('.'))) {
      if (!otherKey.test(text)) continue;
      const plain = attempt(() => keyring.open(text, fieldContext));
      if (plain instanceof Error) {
        pass.unopened.push({ id: row._id, reason: plain.message });
        continue;
      }
      const update = { $set: { [at]: keyring.seal(plain, fieldContext) } };
      const { modifiedCount } = await rows.updateOne({ _id: row._id, [at]: text }, update);
      if (modifiedCount === 1) pass.count += 1;
      else pass.missed += 1;
    }
  }
  return pass;
}

/** Returns whether the keyring opens every text of a field in a row, which has the fields of the field's context. */
export function opensAll(keyring: Keyring, row: unknown, { path, context }: SealedField<never>): boolean {
  const fieldContext = context(row as never);
  const texts = [...findTexts(row, path.split('.'))];
  return texts.every(([, text]) => !(attempt(() => keyring.open(text, fieldContext)) instanceof Error));
}

/** Yields the texts at a path, each with its full path in MongoDB notation, e.g. `secrets.0.sealed`. */
function* findTexts(
  value: unknown,
  path: readonly string[],
  at: readonly string[] = [],
): Generator<[string, string]> {
  if (Array.isArray(value))
    for (const [index, item] of value.entries()) yield* findTexts(item, path, [...at, String(index)]);
  else if (typeof value === 'string') yield [at.join('.'), value];
  else if (typeof value === 'object' && value !== null) {
    const [name = '', ...rest] = path;
    yield* findTexts(Reflect.get(value, name), rest, [...at, name]);
  }
}

function attempt<R>(work: () => R): R | Error {
  try {
    return work();
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}
