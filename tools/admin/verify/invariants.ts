/** All invariants of the database, in the order in which they are checked. */
import { acknowledgementInvariants } from './acknowledgements.ts';
import { approvalInvariants } from './approvals.ts';
import { assetInvariants } from './assets.ts';
import { auditLogInvariant } from './audit-log.ts';
import { documentInvariants } from './documents.ts';
import { eventInvariants } from './events.ts';
import { identityInvariants } from './identity.ts';
import { indexInvariant } from './indexes.ts';
import type { Invariant } from './invariant.ts';
import { publishingInvariants } from './publishing.ts';
import { reviewInvariants } from './reviews.ts';
import { secretInvariants } from './secrets.ts';
import { sharingInvariants, templateInvariants } from './sharing.ts';
import { storageInvariants } from './storage.ts';
import { webhookInvariants } from './webhooks.ts';

/** The invariants. Their names are unique. */
export const invariants: readonly Invariant[] = [
  indexInvariant,
  ...identityInvariants,
  auditLogInvariant,
  ...documentInvariants,
  ...assetInvariants,
  ...approvalInvariants,
  ...reviewInvariants,
  ...publishingInvariants,
  ...storageInvariants,
  ...sharingInvariants,
  ...acknowledgementInvariants,
  ...templateInvariants,
  ...webhookInvariants,
  ...eventInvariants,
  ...secretInvariants,
];
