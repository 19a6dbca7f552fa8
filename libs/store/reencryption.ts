/** Exchanging the key: what is sealed with another key than the ring's first is sealed anew, while services go on. */
import type mongoose from 'mongoose';
import type { SealedField } from './sealed.ts';
import type { Keyring } from './sealing.ts';

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
interface Sealed {
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
  { sealed, name }: Sealed,
  ring: Keyring,
): Promise<ReencryptionResult[]> {
  const results: ReencryptionResult[] = [];
  for (const field of sealed)
    results.push({
      collection: name,
      field: field.path,
      ...(await resealField(db.collection<Row>(name), field, ring)),
    });
  return results;
}

async function resealField(rows: Rows, field: SealedField<never>, ring: Keyring) {
  let count = 0;
  for (let passes = 1; ; passes += 1) {
    const pass = await passOver(rows, field, ring);
    count += pass.count;
    const isLast = pass.count + pass.missed === 0;
    if (isLast || passes === maxPasses) return { count, unopened: pass.unopened, otherKeyInUse: !isLast };
  }
}

async function passOver(rows: Rows, { path, context }: SealedField<never>, ring: Keyring) {
  const pass = { count: 0, missed: 0, unopened: [] as ReencryptionResult['unopened'] };
  // a sealed text begins with the name of its key
  const otherKey = new RegExp(`^(?!${ring.newest}\\.)`);
  for await (const row of rows
    .find({ [path]: otherKey })
    .sort({ _id: 1 })
    .batchSize(50)) {
    // a row of the collection that declares the field has what its context is made of
    const bound = context(row as never);
    for (const [at, text] of textsAt(row, path.split('.'))) {
      if (!otherKey.test(text)) continue;
      const opened = tried(() => ring.open(text, bound));
      if (opened instanceof Error) {
        pass.unopened.push({ id: row._id, reason: opened.message });
        continue;
      }
      const anew = { $set: { [at]: ring.seal(opened, bound) } };
      const { modifiedCount } = await rows.updateOne({ _id: row._id, [at]: text }, anew);
      if (modifiedCount === 1) pass.count += 1;
      else pass.missed += 1;
    }
  }
  return pass;
}

/** The texts at a path, each with its exact place as MongoDB writes it, e.g. `secrets.0.sealed`. */
function* textsAt(
  value: unknown,
  path: readonly string[],
  at: readonly string[] = [],
): Generator<[string, string]> {
  if (Array.isArray(value))
    for (const [index, one] of value.entries()) yield* textsAt(one, path, [...at, String(index)]);
  else if (typeof value === 'string') yield [at.join('.'), value];
  else if (typeof value === 'object' && value !== null) {
    const [name = '', ...rest] = path;
    yield* textsAt(Reflect.get(value, name), rest, [...at, name]);
  }
}

function tried<R>(work: () => R): R | Error {
  try {
    return work();
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}
