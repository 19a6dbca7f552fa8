/** Test helper: a second member of an organization. */
import { newId } from '#libs/contract';
import type { TestApp } from '#libs/testing';

/** Creates a user who accepts an invitation from the admin with the credential `as`. */
export async function createGuest({ request }: TestApp, as: string, password: string) {
  const email = `${newId()}@example.com`;
  const { token } = (await request('POST', '/members/invitations', { as, body: { email } })).body;
  const body = { token, name: 'Guest', password };
  const { member, access_token } = (await request('POST', '/members/invitations/accept', { body })).body;
  return { id: member.id as string, email, token: access_token as string };
}
