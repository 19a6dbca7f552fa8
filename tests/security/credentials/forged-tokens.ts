/** Forged access tokens and altered API keys. Each has the name of what is wrong with it. */
import { createHash, createHmac, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { newId } from '#libs/contract';
import { issuer } from '../../../services/identity/principal.ts';
import { formatApiKey } from '../../../services/identity/rules/api-key.ts';

/** A key pair whose public key the services accept. */
export interface KnownKey {
  kid: string;
  privateKey: KeyObject;
  publicKey: KeyObject;
}

type Json = Record<string, unknown>;

/** The parts of a token that a forger chooses. */
export interface TokenParts {
  header?: Json;
  claims?: Json;
  /** The signature of the text `header.payload`, base64url. */
  signature?: (text: string) => string;
}

/** Keys that no service knows. */
const own = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const p384 = generateKeyPairSync('ec', { namedCurve: 'P-384' });
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });

const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');

/** Signs as ES256 does: with the two integers of the signature one after the other. */
const signEs256 = (key: KeyObject, text: string) =>
  sign('sha256', Buffer.from(text), { key, dsaEncoding: 'ieee-p1363' }).toString('base64url');

/** Creates a token. Without changes it is valid for the member with these claims. */
export function createToken(
  { kid, privateKey }: KnownKey,
  member: { sub: string; org: string },
  { header, claims, signature = (text) => signEs256(privateKey, text) }: TokenParts = {},
): string {
  const now = Math.floor(Date.now() / 1000);
  const own = {
    ...member,
    sid: newId(),
    epoch: 0,
    iss: issuer,
    aud: issuer,
    iat: now,
    exp: now + 600,
    jti: newId(),
  };
  const text = `${encode({ alg: 'ES256', typ: 'JWT', kid, ...header })}.${encode({ ...own, ...claims })}`;
  return `${text}.${signature(text)}`;
}

/** Forged tokens, by what is wrong with them. `other` is a member of another organization. */
export function forgeTokens(
  known: KnownKey,
  member: { sub: string; org: string },
  other: { sub: string; org: string },
): Record<string, string> {
  const forge = (parts: TokenParts) => createToken(known, member, parts);
  const ownJwk = own.publicKey.export({ format: 'jwk' });
  const signOwn = (text: string) => signEs256(own.privateKey, text);
  const pem = known.publicKey.export({ format: 'pem', type: 'spki' }).toString();
  const hmac = (key: string) => (text: string) => createHmac('sha256', key).update(text).digest('base64url');
  const now = Math.floor(Date.now() / 1000);
  const valid = forge({});
  const [head = '', payload = '', mark = ''] = valid.split('.');
  const zeros = Buffer.alloc(64).toString('base64url');
  return {
    'alg none, without a signature': forge({ header: { alg: 'none' }, signature: () => '' }),
    'alg None': forge({ header: { alg: 'None' }, signature: () => '' }),
    'alg none, with the signature of a valid token': forge({
      header: { alg: 'none' },
      signature: () => mark,
    }),
    'no alg': forge({ header: { alg: undefined } }),
    'alg of an unknown name': forge({ header: { alg: 'ES256K' } }),
    'alg as a list': forge({ header: { alg: ['ES256'] } }),
    'alg HS256 with the public key as the secret': forge({ header: { alg: 'HS256' }, signature: hmac(pem) }),
    'alg HS256 with an empty secret': forge({ header: { alg: 'HS256' }, signature: hmac('') }),
    'alg HS256 with the key id as the secret': forge({
      header: { alg: 'HS256' },
      signature: hmac(known.kid),
    }),
    'alg RS256': forge({
      header: { alg: 'RS256' },
      signature: (text) => sign('sha256', Buffer.from(text), rsa.privateKey).toString('base64url'),
    }),
    'alg ES384': forge({
      header: { alg: 'ES384' },
      signature: (text) =>
        sign('sha384', Buffer.from(text), { key: p384.privateKey, dsaEncoding: 'ieee-p1363' }).toString(
          'base64url',
        ),
    }),

    'another key under a known key id': forge({ signature: signOwn }),
    'another key under its own key id': forge({ header: { kid: newId() }, signature: signOwn }),
    'its key in the header (jwk)': forge({ header: { jwk: ownJwk }, signature: signOwn }),
    'only its key in the header': forge({ header: { kid: undefined, jwk: ownJwk }, signature: signOwn }),
    'the address of its keys (jku)': forge({
      header: { jku: 'http://127.0.0.1:9/jwks.json', kid: 'mine' },
      signature: signOwn,
    }),
    'a certificate chain (x5c)': forge({ header: { x5c: ['MIIB'] }, signature: signOwn }),
    'the address of a certificate (x5u)': forge({
      header: { x5u: 'http://127.0.0.1:9/cert.pem', kid: 'mine' },
      signature: signOwn,
    }),
    'a critical extension (crit)': forge({ header: { crit: ['exp'] }, signature: signOwn }),
    'a signature in DER': forge({
      signature: (text) => sign('sha256', Buffer.from(text), known.privateKey).toString('base64url'),
    }),
    'a signature of zeros': forge({ signature: () => zeros }),
    'no signature': `${head}.${payload}.`,
    'two parts': `${head}.${payload}`,
    'four parts': `${valid}.${mark}`,
    'five parts (encrypted)': `${valid}.${mark}.${mark}`,
    'the signature of another token': `${head}.${encode({ ...decode(payload), jti: newId() })}.${mark}`,
    'the organization of another token': `${head}.${encode({ ...decode(payload), org: other.org })}.${mark}`,
    'the user of another token': `${head}.${encode({ ...decode(payload), sub: other.sub })}.${mark}`,
    'another order of its claims': `${head}.${encode(reverse(decode(payload)))}.${mark}`,
    'a payload that is not JSON': withSignature(known, `${head}.${Buffer.from('{').toString('base64url')}`),
    'a payload that is a text': withSignature(known, `${head}.${encode('a text')}`),
    'a payload of null': withSignature(known, `${head}.${encode(null)}`),
    'a payload that is a list': withSignature(known, `${head}.${encode([member])}`),

    'a path as its key id': forge({ header: { kid: '../../../../dev/null' }, signature: hmac('') }),
    'a query as its key id': forge({ header: { kid: "' OR '1'='1" }, signature: signOwn }),
    'an operator as its key id': forge({ header: { kid: { $ne: null } }, signature: signOwn }),
    'a list as its key id': forge({ header: { kid: [known.kid] }, signature: signOwn }),
    'a number as its key id': forge({ header: { kid: 0 }, signature: signOwn }),
    'an empty key id': forge({ header: { kid: '' }, signature: signOwn }),
    'a property of every object as its key id': forge({ header: { kid: 'constructor' }, signature: signOwn }),
    'the prototype as its key id': forge({ header: { kid: '__proto__' }, signature: signOwn }),
    'a key id of 8,000 characters': forge({ header: { kid: 'k'.repeat(8_000) }, signature: signOwn }),
    'a key id with a line break': forge({ header: { kid: `${known.kid}\n` }, signature: signOwn }),

    'another issuer': forge({ claims: { iss: 'another-issuer' } }),
    'no issuer': forge({ claims: { iss: undefined } }),
    'another audience': forge({ claims: { aud: 'another-audience' } }),
    'no audience': forge({ claims: { aud: undefined } }),
    'an expiry in the past': forge({ claims: { exp: now - 61 } }),
    'no expiry': forge({ claims: { exp: undefined } }),
    'an expiry that is a text': forge({ claims: { exp: String(now + 600) } }),
    'a start in the future': forge({ claims: { nbf: now + 3_600 } }),
    'another epoch': forge({ claims: { epoch: 1 } }),
    'a negative epoch': forge({ claims: { epoch: -1 } }),
    'an unknown user': forge({ claims: { sub: newId() } }),
    'a user of another organization': forge({ claims: { sub: other.sub } }),
    'an unknown organization': forge({ claims: { org: newId() } }),
    'an organization of which its user is no member': forge({ claims: { org: other.org } }),
    'no user': forge({ claims: { sub: undefined } }),
    'an operator as its user': forge({ claims: { sub: { $ne: null } } }),
    'an operator as its organization': forge({ claims: { org: { $gt: '' } } }),
    'a list of organizations': forge({ claims: { org: [member.org, other.org] } }),
    'its member as one text': forge({ claims: { sub: `${member.org}:${member.sub}` } }),
  };
}

/** Altered API keys, by what was altered. `row` is what the database stores of the key. */
export function alterKey(key: string, row: { id: string; hash: string }): Record<string, string> {
  const secret = key.slice(4, -6);
  const flip = (at: number) => secret.slice(0, at) + (secret[at] === 'x' ? 'y' : 'x') + secret.slice(at + 1);
  const withChecksum = (text: string) => {
    const sum = createHash('sha256').update(`pds_${text}`).digest('base64url').slice(0, 6);
    return `pds_${text}${sum}`;
  };
  const flips = Array.from({ length: secret.length }, (_, at) => at);
  return {
    ...Object.fromEntries(
      flips.map((at) => [`another character ${at}, with its checksum`, withChecksum(flip(at))]),
    ),
    'another checksum': key.slice(0, -1) + (key.at(-1) === 'x' ? 'y' : 'x'),
    'no checksum': key.slice(0, -6),
    'no prefix': key.slice(4),
    'a prefix in capitals': `PDS_${key.slice(4)}`,
    'swapped case': withChecksum(swapCase(secret)),
    'its first half': withChecksum(secret.slice(0, 21)),
    'a character more': withChecksum(`${secret}A`),
    'its secret twice': withChecksum(secret + secret),
    'the hash of the key': row.hash,
    'the hash as a key': withChecksum(row.hash),
    'the id of the key': row.id,
    'the id as a key': `pds_${row.id}`,
    'random bytes': formatApiKey(new Uint8Array(32).fill(7)),
    'an operator': 'pds_{"$ne":null}',
    'a null byte': `${key}%00`,
  };
}

function decode(payload: string): Json {
  return JSON.parse(Buffer.from(payload, 'base64url').toString());
}

function reverse(claims: Json): Json {
  return Object.fromEntries(Object.entries(claims).reverse());
}

function withSignature({ privateKey }: KnownKey, text: string): string {
  return `${text}.${signEs256(privateKey, text)}`;
}

function swapCase(text: string): string {
  const swap = (letter: string) =>
    letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase();
  return [...text].map(swap).join('');
}
