/** The security log in tests: requests with the lines that they left, and what those have said. */
import { readFile } from 'node:fs/promises';
import { expect } from '@jest/globals';
import { newId } from '#libs/contract';
import { type Asked, opsToken, until, type World } from '#libs/testing';

/** Where every request of `auditing` comes from. */
const address = '192.0.2.7';

/** Who asked when nobody knows. */
export const nobody = { actor_id: null, organization_id: null, key_id: null };

const common = ['event', 'outcome', 'actor_id', 'organization_id', 'key_id', 'request_id', 'address'];

/** Asks a world that trusts proxies on loopback. */
export function auditing(here: World) {
  /** The facts that lines of an event have had, beside what every line has. */
  const facts = new Map<string, Set<string>>();

  return {
    facts,

    /** Asks, and gives the answer with the lines that it left. */
    async asked(method: string, path: string, of: Asked = {}) {
      const request_id = newId();
      const headers = { ...of.headers, 'x-request-id': request_id, 'x-forwarded-for': address };
      const told = await here.ask(method, path, { ...of, headers });
      return { ...told, lines: await linesOf(request_id, address) };
    },

    /** Asks as the operator, on the management port, which has no proxy before it. */
    async operated(method: string, path: string, body: unknown) {
      const request_id = newId();
      const authorization = `Bearer ${opsToken}`;
      const headers = { authorization, 'content-type': 'application/json', 'x-request-id': request_id };
      const request = { method, headers, body: JSON.stringify(body) };
      const told = await (await fetch(here.management + path, request)).json();
      here.secrets.knowWithin(told);
      return linesOf(request_id, '127.0.0.1');
    },
  };

  async function linesOf(request_id: string, from: string) {
    // the request's own line and that of the security log are written at once
    await until('the line of the request', async () =>
      here.logged().some((line) => line.request_id === request_id && line.operation !== undefined),
    );
    const lines = here.logged().filter((line) => line.audit === true && line.request_id === request_id);
    return lines.map(({ level, time, msg, service, audit, request_id, address, ...line }) => {
      expect([level, service, audit, msg, address]).toEqual([30, 'identity', true, line.event, from]);
      const event = String(line.event);
      const known = facts.get(event) ?? new Set();
      for (const name of Object.keys(line)) if (!common.includes(name)) known.add(name);
      facts.set(event, known);
      return line;
    });
  }
}

/** What a page lists of events: which routes leave each, and which facts it names. */
export async function rowsOf(page: URL) {
  const rows = (await readFile(page, 'utf8')).matchAll(/^\| `(\w+\.\w+)` \|(.*)\|(.*)\|$/gm);
  const quoted = (text: string, what: RegExp) => [...text.matchAll(what)].map(([, name = '']) => name);
  return [...rows].map(([, event = '', leftBy = '', says = '']) => ({
    event,
    routes: quoted(leftBy, /`([A-Z]+ \/\S*)`/g).toSorted(),
    says: quoted(says, /`(\w+)`/g).toSorted(),
  }));
}

/** Somebody who accepts an invitation to the organization of an admin. */
export async function guest({ ask }: World, as: string, password: string) {
  const email = `${newId()}@example.com`;
  const { token } = (await ask('POST', '/members/invitations', { as, body: { email } })).body;
  const body = { token, name: 'Guest', password };
  const { member, access_token } = (await ask('POST', '/members/invitations/accept', { body })).body;
  return { id: member.id as string, email, token: access_token as string };
}
