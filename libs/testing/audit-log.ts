/** The security log in tests: requests with the lines that they left, what those have said, and what its page lists. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { type Contract, newId } from '#libs/contract';
import { opsToken, type TestApp, type TestRequest } from './test-app.ts';
import { until } from './until.ts';

/** Where every request of `auditing` comes from. */
const address = '192.0.2.7';

/** Who asked when nobody knows. */
export const noActor = { actor_id: null, organization_id: null, key_id: null };

const common = ['event', 'outcome', 'actor_id', 'organization_id', 'key_id', 'request_id', 'address'];

/** Asks a service of a world that trusts proxies on loopback. */
export function auditRecorder(here: TestApp, { name }: Pick<Contract, 'name'>) {
  /** The facts that lines of an event have had, beside what every line has. */
  const facts = new Map<string, Set<string>>();

  return {
    facts,

    /** Asks, and gives the answer with the lines that it left. */
    async asked(method: string, path: string, testRequest: TestRequest = {}) {
      const request_id = newId();
      const headers = { ...testRequest.headers, 'x-request-id': request_id, 'x-forwarded-for': address };
      const told = await here.request(method, path, { ...testRequest, headers });
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
      here.logLines().some((line) => line.request_id === request_id && line.operation !== undefined),
    );
    const lines = here.logLines().filter((line) => line.audit === true && line.request_id === request_id);
    return lines.map(({ level, time, msg, service, audit, request_id, address, ...line }) => {
      assert.deepEqual([level, service, audit, msg, address], [30, name, true, line.event, from]);
      const event = String(line.event);
      const known = facts.get(event) ?? new Set();
      for (const fact of Object.keys(line)) if (!common.includes(fact)) known.add(fact);
      facts.set(event, known);
      return line;
    });
  }
}

/** What a page lists of one event: which routes leave it, and which facts it names. */
export interface Listed {
  event: string;
  routes: string[];
  says: string[];
}

/** What a page lists, in the order of the events. */
export async function documentedEvents(page: URL): Promise<Listed[]> {
  const rows = (await readFile(page, 'utf8')).matchAll(/^\| `(\w+\.\w+)` \|(.*)\|(.*)\|$/gm);
  const quoted = (text: string, what: RegExp) => [...text.matchAll(what)].map(([, name = '']) => name);
  return inOrder(
    [...rows].map(([, event = '', leftBy = '', says = '']) => ({
      event,
      routes: quoted(leftBy, /`([A-Z]+ \/\S*)`/g).toSorted(),
      says: quoted(says, /`(\w+)`/g).toSorted(),
    })),
  );
}

/** What a page has to list of a service, by the facts that its lines have had. */
export function recordedEvents(
  { operations, adminOperations = [] }: Contract,
  facts: ReadonlyMap<string, ReadonlySet<string>>,
): Listed[] {
  const all = [...operations, ...adminOperations];
  return [...new Set(all.flatMap(({ audit }) => audit ?? []))].map((event) => ({
    event,
    routes: all
      .filter(({ audit }) => audit === event)
      .map(({ method, path }) => `${method.toUpperCase()} ${path}`)
      .toSorted(),
    says: [...(facts.get(event) ?? [])].toSorted(),
  }));
}

/** Rows in the order of their events. */
export function inOrder(rows: readonly Listed[]): Listed[] {
  return rows.toSorted((a, b) => a.event.localeCompare(b.event));
}
