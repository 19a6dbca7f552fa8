/** Sealing: secrets at rest, encrypted with AES-256-GCM under a ring of keys. */
import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createSecretKey,
  type KeyObject,
  randomBytes,
} from 'node:crypto';
import type { Secret } from '#libs/contract';

/** A ring of keys: the first seals, all of them open. */
export interface Keyring {
  /** The name of the first key, no secret: every text that it sealed begins with it and a dot. */
  readonly newest: string;
  /** Encrypts text; the context (e.g. `webhook_configs.secret`) is bound to it and must be named again to open it. */
  seal(text: string, context: string): string;
  /** Decrypts what `seal` made; throws when it was altered, the context differs or the key is gone. */
  open(sealed: string, context: string): string;
}

/** A ring from `ENCRYPTION_KEYS`: base64 keys of 32 bytes, comma-separated, newest first. Throws on any other text. */
export function createKeyring(setting: Secret): Keyring {
  const texts = setting
    .reveal()
    .split(',')
    .map((text) => text.trim());
  const raw = texts.map((text) => Buffer.from(text, 'base64'));
  // Buffer.from skips what is not base64: a mistyped key would become another one
  if (raw.some((key, at) => key.length !== 32 || key.toString('base64') !== texts[at])) {
    throw new Error('ENCRYPTION_KEYS must hold base64 keys of 32 bytes each, separated by commas');
  }
  // a key object saves the cipher from reading the key anew each time
  const keys = raw.map((key) => createSecretKey(key));
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
        throw new Error('This was not sealed here');
      const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: 16 });
      decipher.setAAD(Buffer.from(context)).setAuthTag(bytes.subarray(-16));
      return Buffer.concat([decipher.update(bytes.subarray(0, -16)), decipher.final()]).toString('utf8');
    },
  };
}

const empty = Buffer.alloc(0);

function getKeyName(key: KeyObject): string {
  return createHash('sha256').update(key.export()).digest('hex').slice(0, 8);
}
