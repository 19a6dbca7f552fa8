/** Records the audit lines of requests in tests, and reads the audit events that the documentation lists. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { Contract } from '#libs/contract';
import { httpClient, type TestRequest } from './http-client.ts';
import { opsToken, type TestApp } from './test-app.ts';
import { until } from './until.ts';

/** The client address of every request of `auditRecorder`. */
const address = '192.0.2.7';

/** The actor fields of an audit line whose actor is unknown. */
export const noActor = { actor_id: null, organization_id: null, key_id: null };

const common = ['event', 'outcome', 'actor_id', 'organization_id', 'key_id', 'request_id', 'address'];

/** Sends requests to a service and collects their audit lines; the app must trust proxies on loopback. */
export function auditRecorder(app: TestApp, { name }: Pick<Contract, 'name'>) {
  /** The fields of each event's lines, without the fields that every line has. */
  const details = new Map<string, Set<string>>();

  return {
    details,

    /** Sends a request and returns its response with the audit lines of the request. */
    async request(method: string, path: string, request: TestRequest = {}) {
      const request_id = randomUUID();
      const headers = { ...request.headers, 'x-request-id': request_id, 'x-forwarded-for': address };
      const response = await app.request(method, path, { ...request, headers });
      return { ...response, lines: await auditLines(request_id, address) };
    },

    /** Sends an operator's request to the management port, without a proxy; returns the audit lines. */
    async adminRequest(method: string, path: string, body: unknown) {
      const request_id = randomUUID();
      const management = httpClient(app.management, { secrets: app.secrets });
      await management.request(method, path, { as: opsToken, body, headers: { 'x-request-id': request_id } });
      return auditLines(request_id, '127.0.0.1');
    },
  };

  async function auditLines(request_id: string, from: string) {
    // the request's log line and its audit line are written at the same time
    await until('the log line of the request', async () =>
      app.logLines().some((line) => line.request_id === request_id && line.operation !== undefined),
    );
    const lines = app.logLines().filter((line) => line.audit === true && line.request_id === request_id);
    return lines.map(({ level, time, msg, service, audit, request_id, address, ...line }) => {
      assert.deepEqual([level, service, audit, msg, address], [30, name, true, line.event, from]);
      const event = String(line.event);
      const fields = details.get(event) ?? new Set();
      for (const field of Object.keys(line)) if (!common.includes(field)) fields.add(field);
      details.set(event, fields);
      return line;
    });
  }
}

/** One audit event as a documentation page lists it: the routes that log it and the details of its lines. */
export interface ListedAuditEvent {
  event: string;
  routes: string[];
  details: string[];
}

/** Reads the audit events from the table of a documentation page, sorted by event. */
export async function documentedEvents(page: URL): Promise<ListedAuditEvent[]> {
  const rows = (await readFile(page, 'utf8')).matchAll(/^\| `(\w+\.\w+)` \|(.*)\|(.*)\|$/gm);
  const findAll = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([, name = '']) => name);
  return sortByEvent(
    [...rows].map(([, event = '', routes = '', details = '']) => ({
      event,
      routes: findAll(routes, /`([A-Z]+ \/\S*)`/g).toSorted(),
      details: findAll(details, /`(\w+)`/g).toSorted(),
    })),
  );
}

/** The audit events that a page must list for a service, with the details that its lines had. */
export function recordedEvents(
  { operations, adminOperations = [] }: Contract,
  details: ReadonlyMap<string, ReadonlySet<string>>,
): ListedAuditEvent[] {
  const all = [...operations, ...adminOperations];
  return [...new Set(all.flatMap(({ audit }) => audit ?? []))].map((event) => ({
    event,
    routes: all
      .filter(({ audit }) => audit === event)
      .map(({ method, path }) => `${method.toUpperCase()} ${path}`)
      .toSorted(),
    details: [...(details.get(event) ?? [])].toSorted(),
  }));
}

/** Sorts audit events by name. */
export function sortByEvent(events: readonly ListedAuditEvent[]): ListedAuditEvent[] {
  return events.toSorted((a, b) => a.event.localeCompare(b.event));
}
