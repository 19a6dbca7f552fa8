/** The operations to register, log in, refresh a session and log out, and the public signing keys. */
import { z } from 'zod';
import { anyone, nothing, operation, text } from '#libs/contract';
import {
  EmailTaken,
  OrganizationRequired,
  RefreshTokenInvalid,
  RegistrationClosed,
  SlugTaken,
  WrongCredentials,
} from '../problems.ts';
import { email, maxPasswordBodyBytes, name, password, Session, slug } from '../shapes.ts';

export const registerOrganization = operation({
  id: 'registerOrganization',
  method: 'post',
  path: '/auth/register',
  summary: 'Register an organization and its first admin',
  description: 'The operator may have closed registration. New organizations then come from the operator.',
  access: anyone,
  audit: 'account.register',
  body: z.strictObject({
    organization_name: name,
    name,
    email,
    password,
    organization_slug: slug.optional(),
  }),
  status: 201,
  returns: Session,
  problems: [RegistrationClosed, EmailTaken, SlugTaken],
});

export const logIn = operation({
  id: 'logIn',
  method: 'post',
  path: '/auth/login',
  summary: 'Log in',
  access: anyone,
  audit: 'user.login',
  body: z.strictObject({ email, password: text(256), organization_slug: slug.optional() }),
  maxBodyBytes: maxPasswordBodyBytes,
  status: 200,
  returns: Session,
  problems: [WrongCredentials, OrganizationRequired],
});

export const refreshSession = operation({
  id: 'refreshSession',
  method: 'post',
  path: '/auth/refresh',
  summary: 'Exchange a refresh token for new tokens',
  description: 'Each refresh token works once. Using an old one again ends the whole session.',
  access: anyone,
  audit: 'session.refresh',
  body: z.strictObject({ refresh_token: text(200) }),
  status: 200,
  returns: Session,
  problems: [RefreshTokenInvalid],
});

export const logOut = operation({
  id: 'logOut',
  method: 'post',
  path: '/auth/logout',
  summary: 'Log out and end the session',
  description: 'Access tokens of the session stop working with the next request.',
  access: anyone,
  audit: 'user.logout',
  body: z.strictObject({ refresh_token: text(200) }),
  status: 204,
  returns: nothing,
  problems: [],
});

const Jwks = z
  .strictObject({ keys: z.array(z.record(z.string(), z.string())) })
  .meta({ id: 'JsonWebKeySet' });

export const getSigningKeys = operation({
  id: 'getSigningKeys',
  method: 'get',
  path: '/auth/jwks.json',
  summary: 'Get the public keys for verifying access tokens (RFC 7517)',
  access: anyone,
  status: 200,
  returns: Jwks,
  problems: [],
});
