/** Exchanging the key: what is sealed with another key than the ring's first is sealed anew, while services go on. */
import type mongoose from 'mongoose';
import type { Keyring } from './keyring.ts';
import type { SealedField } from './sealed-field.ts';

/** What became of one sealed field. */
export interface ReencryptionResult {
  collection: string;
  field: string;
  /** How many texts are sealed with the first key now that were not before. */
  count: number;
  /** What no key of the ring opens: it stays as it is. */
  unopened: { id: string; reason: string }[];
  /** Whether some process goes on sealing with another key: then it must be told of the new order first. */
  otherKeyInUse: boolean;
}

/** A collection, as far as this goes. */
interface SealedCollection {
  readonly name: string;
  readonly sealed: readonly SealedField<never>[];
}

/** A row of whatever collection, as the driver gives it. */
type Row = { _id: string };
type Rows = mongoose.mongo.Collection<Row>;

/** How often the rows are gone through: again when services changed some of them at the same moment. */
const maxPasses = 5;

/**
 * Seals a collection's fields anew, each text only while it is still the one that was read. What is done is not looked
 * at again, so this may be stopped and repeated at any time.
 */
export async function reencrypt(
  db: mongoose.mongo.Db,
  { sealed, name }: SealedCollection,
  ring: Keyring,
): Promise<ReencryptionResult[]> {
  const results: ReencryptionResult[] = [];
  for (const field of sealed)
    results.push({
      collection: name,
      field: field.path,
      ...(await reencryptField(db.collection<Row>(name), field, ring)),
    });
  return results;
}

async function reencryptField(rows: Rows, field: SealedField<never>, ring: Keyring) {
  let count = 0;
  for (let passes = 1; ; passes += 1) {
    const pass = await runPass(rows, field, ring);
    count += pass.count;
    const isLast = pass.count + pass.missed === 0;
    if (isLast || passes === maxPasses) return { count, unopened: pass.unopened, otherKeyInUse: !isLast };
  }
}

async function runPass(rows: Rows, { path, context }: SealedField<never>, ring: Keyring) {
  const pass = { count: 0, missed: 0, unopened: [] as ReencryptionResult['unopened'] };
  // a sealed text begins with the name of its key
  const otherKey = new RegExp(`^(?!${ring.newest}\\.)`);
  for await (const row of rows
    .find({ [path]: otherKey })
    .sort({ _id: 1 })
    .batchSize(50)) {
    // a row of the collection that declares the field has what its context is made of
    const fieldContext = context(row as never);
    for (const [at, text] of findTexts(row, path.split('.'))) {
      if (!otherKey.test(text)) continue;
      const plain = attempt(() => ring.open(text, fieldContext));
      if (plain instanceof Error) {
        pass.unopened.push({ id: row._id, reason: plain.message });
        continue;
      }
      const update = { $set: { [at]: ring.seal(plain, fieldContext) } };
      const { modifiedCount } = await rows.updateOne({ _id: row._id, [at]: text }, update);
      if (modifiedCount === 1) pass.count += 1;
      else pass.missed += 1;
    }
  }
  return pass;
}

/** The texts at a path, each with its exact place as MongoDB writes it, e.g. `secrets.0.sealed`. */
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
