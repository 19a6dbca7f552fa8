/** A second person in tests: who was invited, and came. */
import { newId } from '#libs/contract';
import type { TestApp } from '#libs/testing';

/** Somebody who accepts an invitation to the organization of an admin. */
export async function guest({ request }: TestApp, as: string, password: string) {
  const email = `${newId()}@example.com`;
  const { token } = (await request('POST', '/members/invitations', { as, body: { email } })).body;
  const body = { token, name: 'Guest', password };
  const { member, access_token } = (await request('POST', '/members/invitations/accept', { body })).body;
  return { id: member.id as string, email, token: access_token as string };
}
