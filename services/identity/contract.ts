/**
 * The public interface of identity: operations on people, organizations and credentials, and views for
 * authentication.
 */
import { contract } from '#libs/contract';
import {
  ApprovalApproved,
  ApprovalRejected,
  ApprovalRequested,
  ApprovalWithdrawn,
  DocumentArchived,
  DocumentAssigned,
  DocumentPublished,
  DocumentReviewDue,
  DocumentRevised,
} from '../documents/events.ts';
import { documentStates, documentUsage, publishRecords } from '../documents/views.ts';
import { templateUsage } from '../export/views.ts';
import { AcknowledgementOverdue, AcknowledgementRequested } from '../sharing/events.ts';
import { WebhookDisabled, WebhookExhausted } from '../webhook-delivery/events.ts';
import { webhookSubscriptions } from '../webhook-delivery/views.ts';
import * as apiKeys from './contract/api-keys.ts';
import * as departments from './contract/departments.ts';
import * as invitations from './contract/invitations.ts';
import * as notifications from './contract/notifications.ts';
import * as organization from './contract/organization.ts';
import * as people from './contract/people.ts';
import * as reference from './contract/reference.ts';
import * as resetting from './contract/resetting.ts';
import * as signingIn from './contract/signing-in.ts';
import { getApiStartPage, getStartPage } from './contract/start-page.ts';
import { ApiKeyUsed, MemberInvited, MemberJoined, MemberRemoved } from './events.ts';
import { memberProfiles, organizationProfiles, principalViews, userNames } from './views.ts';

export * from './access.ts';
export * from './contract/api-keys.ts';
export * from './contract/departments.ts';
export * from './contract/invitations.ts';
export * from './contract/notifications.ts';
export * from './contract/organization.ts';
export * from './contract/people.ts';
export * from './contract/reference.ts';
export * from './contract/resetting.ts';
export * from './contract/signing-in.ts';
export * from './contract/start-page.ts';
export * from './events.ts';
export * from './problems.ts';
export { getLimit, type StorageLimits, storageLimitNames } from './rules/storage-limits.ts';
export { nextRenewal, type Terms, toPeriod } from './rules/terms.ts';
export { ApiKey, frameOrigins, Member, Organization, Session, Subscription } from './shapes.ts';
export * from './views.ts';

const { setSubscription, createOrganization, ...organizations } = organization;
const { inviteToOrganization, ...memberInvitations } = invitations;
const { resetAccountPassword, ...resets } = resetting;
const startPages = { getStartPage, getApiStartPage };

export const identityContract = contract({
  name: 'identity',
  title: 'Identity',
  description: 'People, organizations, API keys, notifications and the API reference.',
  operations: [
    ...[signingIn, resets, people, memberInvitations, organizations, departments, apiKeys, notifications],
    ...[reference, startPages],
  ].flatMap((topic) => Object.values(topic)),
  adminOperations: [createOrganization, inviteToOrganization, setSubscription, resetAccountPassword],
  publishes: [MemberInvited, MemberJoined, MemberRemoved, ApiKeyUsed],
  consumes: [
    ...[DocumentPublished, DocumentRevised, DocumentArchived, DocumentAssigned, DocumentReviewDue],
    ...[ApprovalRequested, ApprovalApproved, ApprovalRejected, ApprovalWithdrawn],
    ...[AcknowledgementRequested, AcknowledgementOverdue],
    ...[MemberJoined, ApiKeyUsed, WebhookExhausted, WebhookDisabled],
  ],
  owns: [
    'users',
    'members',
    'organizations',
    'subscriptions',
    'departments',
    'invitations',
    'api_keys',
    'sessions',
    'password_resets',
    'signing_keys',
    'notifications',
    'rate_limits',
  ],
  views: [...principalViews, memberProfiles, organizationProfiles, userNames],
  reads: [
    ...principalViews,
    ...[publishRecords, documentStates, documentUsage, templateUsage, webhookSubscriptions],
  ],
});
