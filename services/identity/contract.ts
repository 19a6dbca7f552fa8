/**
 * The public interface of identity: operations on people, organizations and credentials, and views for
 * authentication.
 */
import { contract } from '#libs/contract';
import { assetUsage, documentStates, documentUsage, publishRecords } from '../documents/views.ts';
import { templateUsage } from '../export/views.ts';
import { WebhookExhausted } from '../webhook-delivery/events.ts';
import { webhookSubscriptions } from '../webhook-delivery/views.ts';
import * as apiKeys from './contract/api-keys.ts';
import { exportAuditLog, listAuditLog } from './contract/audit-entries.ts';
import * as departments from './contract/departments.ts';
import * as invitations from './contract/invitations.ts';
import * as notifications from './contract/notifications.ts';
import * as organization from './contract/organization.ts';
import * as people from './contract/people.ts';
import * as reference from './contract/reference.ts';
import * as resetting from './contract/resetting.ts';
import * as signingIn from './contract/signing-in.ts';
import { getApiStartPage, getStartPage } from './contract/start-page.ts';
import {
  ApiKeyCreated,
  ApiKeyRevoked,
  ApiKeyUsed,
  DepartmentRenamed,
  MemberInvited,
  MemberJoined,
  MemberRemoved,
  MemberUpdated,
  OrganizationPlanChanged,
  OrganizationUpdated,
} from './events.ts';
import { auditedEvents } from './rules/audit-entries.ts';
import { departmentNames, memberProfiles, organizationProfiles, principalViews, userNames } from './views.ts';

export * from './access.ts';
export * from './contract/api-keys.ts';
export * from './contract/audit-entries.ts';
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
export { auditActions, unauditedEvents } from './rules/audit-entries.ts';
export { getCurrentNames } from './rules/department-names.ts';
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
    ...[{ listAuditLog, exportAuditLog }, reference, startPages],
  ].flatMap((topic) => Object.values(topic)),
  adminOperations: [createOrganization, inviteToOrganization, setSubscription, resetAccountPassword],
  publishes: [
    ...[MemberInvited, MemberJoined, MemberUpdated, MemberRemoved, DepartmentRenamed],
    ...[OrganizationUpdated, OrganizationPlanChanged, ApiKeyCreated, ApiKeyRevoked, ApiKeyUsed],
  ],
  consumes: [...new Set([...auditedEvents.map(({ type }) => type), ApiKeyUsed, WebhookExhausted])],
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
  appends: ['audit_log'],
  views: [...principalViews, memberProfiles, departmentNames, organizationProfiles, userNames],
  reads: [
    ...principalViews,
    ...[publishRecords, documentStates, documentUsage, assetUsage, templateUsage, webhookSubscriptions],
  ],
});
