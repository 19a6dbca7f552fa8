/** Invariants of encrypted secrets, one for each field in which a service stores them. */
import { idempotencyCollection, opensAll, type SealedField } from '#libs/store';
import { services } from '../../../services/services.ts';
import type { Invariant } from './invariant.ts';

/** The invariants. Without the keys they find nothing. */
export const secretInvariants: readonly Invariant[] = services.flatMap(({ contract, collections }) =>
  [...collections, idempotencyCollection(contract.name)].flatMap(({ name, sealed }) =>
    sealed.map((field) => toInvariant(name, field)),
  ),
);

function toInvariant(collection: string, field: SealedField<never>): Invariant {
  return {
    name: `${collection}.${field.path}`,
    description: 'A key in `ENCRYPTION_KEYS` decrypts each secret of this field.',
    needsKeys: true,
    async *find({ keyring, rows }) {
      if (!keyring) return;
      // a stored response may have 15 MB
      for await (const row of rows(collection, [{ $match: { [field.path]: { $exists: true } } }], 200))
        if (!opensAll(keyring, row, field)) yield String(row._id);
    },
  };
}
