/** Replaces what differs between two test runs (ids, times, secrets, addresses) by values that are always the same. */
import { createHash } from 'node:crypto';

/** When the examples take place. */
const exampleTime = Date.parse('2026-11-21T09:30:00.000Z');
/** How long every request in the examples took. */
const exampleDurationMs = 42;
/** The signature of every example. */
const exampleDigest = createHash('sha256').update('example').digest();
const uuid = /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g;
const time = /\b20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g;
const unixTime = /("webhook-timestamp":")\d+/g;
const duration = /("duration_ms":)\d+/g;
/** Signatures of both kinds, as hexadecimal digits and as base64. */
const hexSignature = /\bsha256=[0-9a-f]{64}\b/g;
const base64Signature = /\bv1,[A-Za-z0-9+/]{43}=/g;
/** The hash of a style sheet in a policy. That of a printed page's head depends on the day. */
const styleHash = /\bsha256-[A-Za-z0-9+/]{43}=/g;
/** The hashes of an entry of the audit log. */
const chainHash = /("(?:previous_)?hash":")[0-9a-f]{64}"/g;
const minute = 60_000;
/** A day, minutes. */
const day = 24 * 60;

/** Values of a run with their counterparts in the examples. */
export interface Aliases {
  /** Sets the counterpart of a value, e.g. of the address of a server. */
  add(real: string, example: string): void;
  /** Replaces all values of the run. A new id gets the next example id, and a new secret the next example secret. */
  toExample<Value>(value: Value): Value;
  /** Replaces all values of the examples by those of the run. */
  toReal<Value>(value: Value): Value;
}

/** Creates the aliases of one run, which starts now. */
export function createAliases(): Aliases {
  const start = Date.now();
  const examples = new Map<string, string>();
  let ids = 0;

  function toExampleId(id: string): string {
    const known = examples.get(id);
    if (known) return known;
    if ([...examples.values()].includes(id)) return id;
    ids += 1;
    examples.set(id, toSampleId(ids));
    return toSampleId(ids);
  }

  return {
    add: (real, example) => void examples.set(real, example),

    toExample(value) {
      if (value === undefined) return value;
      findSecrets(value, (name, secret) => {
        if (!examples.has(secret)) examples.set(secret, toSampleSecret(name, secret, examples.size));
      });
      // the visible start of an API key
      const { key, prefix } = Object(value);
      const sample = examples.get(key);
      if (sample && prefix) examples.set(prefix, sample.slice(0, prefix.length));
      const text = replaceAll(JSON.stringify(value), [...examples])
        .replaceAll(uuid, toExampleId)
        .replaceAll(time, (text) => toExampleTime(text, start))
        .replaceAll(unixTime, (_, name) => `${name}${exampleTime / 1_000}`)
        .replaceAll(hexSignature, `sha256=${exampleDigest.toString('hex')}`)
        .replaceAll(base64Signature, `v1,${exampleDigest.toString('base64')}`)
        .replaceAll(styleHash, `sha256-${exampleDigest.toString('base64')}`)
        .replaceAll(chainHash, (_, name) => `${name}${exampleDigest.toString('hex')}"`)
        .replaceAll(duration, (_, name) => `${name}${exampleDurationMs}`);
      return JSON.parse(text);
    },

    toReal(value) {
      if (value === undefined) return value;
      const swapped = [...examples].map(([real, example]) => [example, real] as const);
      return JSON.parse(replaceAll(JSON.stringify(value), swapped));
    },
  };
}

/** Longer texts come first, because a text can be part of another one. */
function replaceAll(text: string, pairs: (readonly [string, string])[]): string {
  const longestFirst = pairs.toSorted(([one], [other]) => other.length - one.length);
  return longestFirst.reduce((result, [from, to]) => result.replaceAll(from, to), text);
}

/** Calls `see` with each secret of a response, which it recognizes by the name of the field. */
function findSecrets(value: unknown, see: (name: string, secret: string) => void): void {
  if (typeof value !== 'object' || value === null) return;
  for (const [name, member] of Object.entries(value)) {
    if (typeof member === 'string' && name in sampleSecrets) see(name, member);
    else findSecrets(member, see);
  }
}

const encode = (text: string) => Buffer.from(text).toString('base64url');
const toBytes = (text: string) => encode(text.padEnd(32, '.').slice(0, 32));

/** The sample secrets by the name of their field. Decoded, they say that they are samples. */
const sampleSecrets: Readonly<Record<string, (label: string) => string>> = {
  access_token: (label) =>
    [encode('{"alg":"ES256"}'), encode(`{"sub":"${label}"}`), encode('signature')].join('.'),
  refresh_token: toBytes,
  token: toBytes,
  secret: (label) => `whsec_${Buffer.from(label.padEnd(32, '.').slice(0, 32)).toString('base64')}`,
  key: toSampleKey,
  kid: (label) => encode(label).slice(0, 16),
  x: toBytes,
  y: toBytes,
};

/** A key with a valid checksum. */
function toSampleKey(label: string): string {
  const start = `pds_${toBytes(label)}`;
  return start + createHash('sha256').update(start).digest('base64url').slice(0, 6);
}

function toSampleSecret(name: string, secret: string, count: number): string {
  const toSample = sampleSecrets[name];
  return toSample ? toSample(`sample ${name} ${count}`) : secret;
}

/** A UUID of version 7 whose time is the same in all examples. */
function toSampleId(count: number): string {
  const hash = createHash('sha256').update(String(count)).digest('hex');
  return `0199c2a4-6f80-7${hash.slice(0, 3)}-9${hash.slice(3, 6)}-${hash.slice(6, 18)}`;
}

/** A time near the start becomes the time of the examples. Another one keeps its distance; a leap day never counts. */
function toExampleTime(text: string, start: number): string {
  if (text.endsWith('-01T00:00:00.000Z')) return '2026-12-01T00:00:00.000Z';
  const exact = Math.round((Date.parse(text) - start) / minute / 20) * 20;
  const minutes = exact === 366 * day ? 365 * day : exact;
  return new Date(exampleTime + minutes * minute).toISOString();
}
