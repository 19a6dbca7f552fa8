/** What receivers are asked to check: the published test vectors, and what an attacker or a mistake makes of them. */
import { readFileSync } from 'node:fs';

/** One delivery as it arrives, with the secret and the time of the receiver. */
export interface Case {
  name: string;
  secret: string;
  body: string;
  id: string;
  timestamp: string;
  /** `webhook-signature` */
  standard: string;
  /** `X-Service-Signature` */
  ours: string;
  /** Unix seconds */
  now: number;
  /** Whether `X-Service-Signature` fits, and whether the Standard Webhooks headers do. */
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

/** All cases, from all vectors. */
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
  const spoiled = (text: string) =>
    text.replaceAll(/[A-Za-z0-9](?=[=]*(?:[ ,]|$))/g, (end) => (end === '0' ? '1' : '0'));
  const variants: [string, Partial<Case>][] = [
    ['as it is', {}],
    ['almost five minutes later', { now: at + 299 }],
    ['six minutes later', { now: at + 360, expected: untimely }],
    ['six minutes early', { now: at - 360, expected: untimely }],
    ['of another time', { timestamp: String(at + 1), expected: untimely }],
    ['of no time', { timestamp: '', expected: untimely }],
    ['of an odd time', { timestamp: `${at}x`, expected: untimely }],
    ['of a negative time', { timestamp: `-${at}`, expected: untimely }],
    ['of another event', { id: 'another', expected: untimely }],
    ['with another body', { body: body.replace('"id"', '"ID"'), expected: neither }],
    ['with a longer body', { body: `${body} `, expected: neither }],
    ['with an empty body', { body: '', expected: neither }],
    ['with another secret', { secret: otherSecret, expected: neither }],
    ['with other signatures', { standard: spoiled(standard), ours: spoiled(ours), expected: neither }],
    [
      'with shorter signatures',
      { standard: standard.split(',')[0] ?? '', ours: ours.slice(0, 40), expected: neither },
    ],
    ['without signatures', { standard: '', ours: '', expected: neither }],
    [
      'with signatures of another kind',
      {
        standard: standard.replaceAll('v1,', 'v2,'),
        ours: ours.replaceAll('sha256=', 'sha1='),
        expected: neither,
      },
    ],
    ['with the signatures of the other header', { standard: ours, ours: standard, expected: neither }],
    ['among signatures of others', { standard: `v1,AAAA v1a,x ${standard}`, ours: `sha256=00,${ours}` }],
    [
      'in another order',
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
