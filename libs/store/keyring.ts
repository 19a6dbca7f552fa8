/** The keyring: encrypts secrets at rest with AES-256-GCM. */
import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  randomBytes,
} from 'node:crypto';
import type { Secret } from '#libs/contract';

/** A list of keys. The first key seals; every key opens. */
export interface Keyring {
  /** The name of the first key, which is not secret. Texts sealed with it start with this name and a dot. */
  readonly newest: string;
  /** Encrypts text. Opening it requires the same context, e.g. `webhook_configs.secret`. */
  seal(text: string, context: string): string;
  /**
   * Decrypts a sealed text. Throws if it was altered, the context differs or its key is not in the keyring.
   */
  open(sealed: string, context: string): string;
  /**
   * Returns a keyring with other keys, derived from these and `purpose` (HKDF, RFC 5869). For texts that are sealed so
   * often that random nonces of one key could repeat.
   */
  derive(purpose: string): Keyring;
}

/**
 * Creates a keyring from `ENCRYPTION_KEYS`: comma-separated base64 keys of 32 random bytes, newest first.
 * Throws otherwise.
 */
export function createKeyring(setting: Secret): Keyring {
  const texts = setting
    .reveal()
    .split(',')
    .map((text) => text.trim());
  const raw = texts.map((text) => Buffer.from(text, 'base64'));
  // Buffer.from skips invalid base64 characters, so a mistyped key would become another key
  if (raw.some((key, at) => key.length !== 32 || key.toString('base64') !== texts[at])) {
    throw new Error('ENCRYPTION_KEYS must hold base64 keys of 32 bytes each, separated by commas');
  }
  if (raw.some((key) => key.every((byte) => byte === 0)))
    throw new Error('ENCRYPTION_KEYS must hold keys of random bytes, not zeros');
  // with a key object, the cipher need not parse the key each time
  return toKeyring(raw.map((key) => createSecretKey(key)));
}

function toKeyring(keys: readonly KeyObject[]): Keyring {
  const [first] = keys;
  if (!first) throw new Error('ENCRYPTION_KEYS is empty');
  const newest = getKeyName(first);
  const byName = new Map(keys.map((key) => [getKeyName(key), key]));
  return {
    newest,
    seal(text, context) {
      const nonce = randomBytes(12);
      const cipher = createCipheriv('aes-256-gcm', first, nonce).setAAD(Buffer.from(context));
      const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
      return [
        newest,
        nonce.toString('base64url'),
        Buffer.concat([sealed, cipher.getAuthTag()]).toString('base64url'),
      ].join('.');
    },
    open(sealed, context) {
      const [name = '', ...rest] = sealed.split('.');
      const key = byName.get(name);
      if (!key) throw new Error(`No key ${name} in ENCRYPTION_KEYS`);
      const [nonce = empty, bytes = empty] = rest.map((text) => Buffer.from(text, 'base64url'));
      if ([name, nonce.toString('base64url'), bytes.toString('base64url')].join('.') !== sealed)
        throw new Error('Not a sealed text');
      const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: 16 });
      decipher.setAAD(Buffer.from(context)).setAuthTag(bytes.subarray(-16));
      return Buffer.concat([decipher.update(bytes.subarray(0, -16)), decipher.final()]).toString('utf8');
    },
    derive(purpose) {
      const derived = keys.map((key) => hkdfSync('sha256', key.export(), '', purpose, 32));
      return toKeyring(derived.map((bytes) => createSecretKey(Buffer.from(bytes))));
    },
  };
}

const empty = Buffer.alloc(0);

function getKeyName(key: KeyObject): string {
  return createHash('sha256').update(key.export()).digest('hex').slice(0, 8);
}
