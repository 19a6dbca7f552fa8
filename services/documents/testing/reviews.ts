/** Provides a client for tests of reviews. */
import type { TestResponse } from '#libs/testing';
import type { LifecycleClient, PublishedEvent } from './lifecycle.ts';
import type { TestContext, TestMember } from './test-context.ts';

type Headers = Record<string, string>;

/** Sends requests about reviews. */
export interface ReviewClient {
  set(member: TestMember, id: string, body: unknown, headers?: Headers): Promise<TestResponse>;
  confirm(member: TestMember, id: string, body?: unknown, headers?: Headers): Promise<TestResponse>;
  /** Returns the `document.review_due` events of a version as `<due time> <days left>`, oldest first. */
  notices(id: string): Promise<string[]>;
}

/** Creates the client of a test context. */
export function reviewClient(
  { request }: TestContext,
  lifecycle: Pick<LifecycleClient, 'publishedEvents'>,
): ReviewClient {
  const toNotice = ({ data: { document, days_left } }: PublishedEvent) =>
    `${document.review.due_at} ${days_left}`;
  return {
    set: (member, id, body, headers) => request(member, 'PATCH', `${id}/review`, body, headers),
    confirm: (member, id, body, headers) => request(member, 'POST', `${id}/review/confirm`, body, headers),
    notices: async (id) =>
      (await lifecycle.publishedEvents(id))
        .filter(({ type }) => type === 'document.review_due')
        .map(toNotice),
  };
}

/** A month calculation that shares no code with the service: on the digits of a time in ISO 8601. */
export function addMonthsToText(at: string, months: number): string {
  const [year = 0, month = 0, day = 0] = at.slice(0, 10).split('-').map(Number);
  const count = year * 12 + month - 1 + months;
  const [newYear, newMonth] = [Math.floor(count / 12), (count % 12) + 1];
  const isLeap = newYear % 4 === 0 && (newYear % 100 !== 0 || newYear % 400 === 0);
  const days = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][newMonth - 1] ?? 0;
  const pad = (value: number) => String(value).padStart(2, '0');
  return `${newYear}-${pad(newMonth)}-${pad(Math.min(day, days))}${at.slice(10)}`;
}
