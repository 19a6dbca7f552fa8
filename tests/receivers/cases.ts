/** Deliveries that receivers verify: the published test vectors and invalid variants of them. */
import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';

/** One received delivery, with the secret and the clock of the receiver. */
export interface Case {
  name: string;
  secret: string;
  body: string;
  id: string;
  timestamp: string;
  /** Value of `webhook-signature`. */
  standard: string;
  /** Value of `X-Service-Signature`. */
  ours: string;
  /** Time of the receiver, Unix seconds. */
  now: number;
  /** Whether `X-Service-Signature` is valid, and whether the Standard Webhooks headers are. */
  expected: readonly [boolean, boolean];
}

interface Vector {
  name: string;
  secrets: string[];
  body: string;
  webhook_timestamp: number;
  headers: Record<string, string>;
}

const published = new URL('../../docs/webhook-test-vectors.json', import.meta.url);
const otherSecret = 'whsec_BAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4fIA=';

/** All cases of all vectors. */
export function cases(): Case[] {
  const { vectors }: { vectors: Vector[] } = JSON.parse(readFileSync(published, 'utf8'));
  return vectors.flatMap(toCases);
}

function toCases({ name, secrets, body, webhook_timestamp: at, headers }: Vector): Case[] {
  const header = (one: string) => headers[one] ?? '';
  const [standard, ours] = [header('webhook-signature'), header('X-Service-Signature')];
  const right: Omit<Case, 'name' | 'secret'> = {
    ...{ body, standard, ours, now: at, id: header('webhook-id'), timestamp: String(at) },
    expected: [true, true],
  };
  const [neither, untimely] = [
    [false, false],
    [true, false],
  ] as const;
  const corrupt = (text: string) =>
    text.replaceAll(/[A-Za-z0-9](?=[=]*(?:[ ,]|$))/g, (end) => (end === '0' ? '1' : '0'));
  const variants: [string, Partial<Case>][] = [
    ['unchanged', {}],
    ['almost five minutes later', { now: at + 299 }],
    ['six minutes later', { now: at + 360, expected: untimely }],
    ['six minutes early', { now: at - 360, expected: untimely }],
    ['with another timestamp', { timestamp: String(at + 1), expected: untimely }],
    ['with an empty timestamp', { timestamp: '', expected: untimely }],
    ['with a malformed timestamp', { timestamp: `${at}x`, expected: untimely }],
    ['with a negative timestamp', { timestamp: `-${at}`, expected: untimely }],
    ['with another event id', { id: 'another', expected: untimely }],
    ['with another body', { body: body.replace('"id"', '"ID"'), expected: neither }],
    ['with a longer body', { body: `${body} `, expected: neither }],
    ['with an empty body', { body: '', expected: neither }],
    ['with another secret', { secret: otherSecret, expected: neither }],
    [
      'with an empty secret, which everyone can sign with',
      { ...signWithEmptySecret(right), expected: neither },
    ],
    ['with other signatures', { standard: corrupt(standard), ours: corrupt(ours), expected: neither }],
    [
      'with shorter signatures',
      { standard: standard.split(',')[0] ?? '', ours: ours.slice(0, 40), expected: neither },
    ],
    ['without signatures', { standard: '', ours: '', expected: neither }],
    [
      'with an unknown signature scheme',
      {
        standard: standard.replaceAll('v1,', 'v2,'),
        ours: ours.replaceAll('sha256=', 'sha1='),
        expected: neither,
      },
    ],
    ['with the two signatures swapped', { standard: ours, ours: standard, expected: neither }],
    [
      'with additional invalid signatures',
      { standard: `v1,AAAA v1a,x ${standard}`, ours: `sha256=00,${ours}` },
    ],
    [
      'with signatures in another order',
      { standard: standard.split(' ').reverse().join(' '), ours: ours.split(',').reverse().join(', ') },
    ],
  ];
  return secrets.flatMap((secret, place) =>
    variants.map(([what, variant]) => ({
      name: `${name}, secret ${place + 1}, ${what}`,
      secret,
      ...right,
      ...variant,
    })),
  );
}

function signWithEmptySecret({ id, timestamp, body }: Pick<Case, 'id' | 'timestamp' | 'body'>) {
  const sign = (text: string, encoding: 'base64' | 'hex') =>
    createHmac('sha256', '').update(text).digest(encoding);
  const standard = `v1,${sign(`${id}.${timestamp}.${body}`, 'base64')}`;
  return { secret: '', standard, ours: `sha256=${sign(body, 'hex')}` };
}
