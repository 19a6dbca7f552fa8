/** Tests that the permissions of the roles (`GET /roles`) agree with the access rules of the operations. */
import { describe, expect, test } from '@jest/globals';
import { contracts } from '../../services/contracts.ts';
import { roles } from '../../services/identity/rules/roles.ts';

const getPermissions = (role: string) => roles.find(({ name }) => name === role)?.permissions ?? [];
const member = getPermissions('member');
const admin = getPermissions('admin');

/** The operations that each permission of a member stands for. */
const operationIds: Record<string, readonly string[]> = {
  'documents.read': [
    ...['getDocument', 'listDocuments', 'countDocuments', 'listVersions', 'compareVersions', 'getShareToken'],
    ...['listApprovals', 'getApproval', 'getAsset'],
    ...['listAcknowledgementRequests', 'getAcknowledgementRequest'],
  ],
  'documents.create': ['createDocument', 'duplicateDocument', 'createAsset', 'previewImport', 'createImport'],
  'documents.change.own': [
    ...['updateDocument', 'deleteDocument', 'assignEditor', 'requestApproval', 'withdrawApproval'],
    'updateReview',
    ...['createNode', 'updateNode', 'deleteNode', 'reorderNodes', 'replaceTree'],
  ],
  'documents.publish.own': [
    'publishDocument',
    'reviseDocument',
    'archiveDocument',
    'restoreDocument',
    'triggerWebhooks',
  ],
  'documents.approve': ['decideApproval'],
  'documents.review.own': ['confirmReview'],
  'documents.share.own': [
    ...['createShareToken', 'updateShareToken', 'deleteShareToken'],
    ...['requestAcknowledgement', 'updateAcknowledgementRequest', 'closeAcknowledgementRequest'],
    ...['addReaders', 'deleteReader', 'listPeople'],
  ],
  'documents.acknowledge.own': ['createAcknowledgement', 'listAcknowledgements'],
  'documents.export': ['exportWord', 'exportMarkdown', 'exportHtml'],
  'templates.upload': ['createTemplate', 'listTemplates'],
  'templates.delete.own': ['deleteTemplate'],
  'webhooks.register': ['createWebhook', 'listWebhooks', 'getWebhook', 'listWebhookEvents'],
  'webhooks.change.own': [
    ...['updateWebhook', 'deleteWebhook', 'rotateWebhookSecret'],
    ...['redeliverWebhookEvent', 'redeliverFailedEvents'],
  ],
  'webhooks.inspect.own': ['getWebhookEvent'],
  'webhooks.test': ['testWebhook'],
  'webhooks.listen.own': [
    ...['createWebhookListener', 'receiveWebhookEvents'],
    ...['confirmWebhookEvents', 'deleteWebhookListener'],
  ],
  'members.read': ['listMembers', 'listRoles'],
  'api_keys.own': ['createApiKey', 'listApiKeys', 'deleteApiKey', 'deleteOwnApiKeys'],
};
/** Operations about the caller or the organization, which need no permission. */
const unlisted = [
  ...['getMe', 'updatePassword', 'getOrganization', 'getSubscription', 'listDepartments'],
  ...['listInbox', 'countInbox', 'markInboxItemRead', 'markInboxRead', 'deleteInboxItem'],
];

const operations = contracts.flatMap((contract) => contract.operations);
const restricted = operations.filter(({ access }) => access.authenticated);

describe('the permissions of a member', () => {
  test('are those of the operations that a member may call', () => {
    expect([...member].sort()).toEqual(Object.keys(operationIds).sort());
    const listed = [...Object.values(operationIds).flat(), ...unlisted];
    const callable = restricted.filter(({ access }) => !access.name.startsWith('admin'));
    expect(listed.sort()).toEqual(callable.map(({ id }) => id).sort());
  });

  test.each(Object.entries(operationIds))('%s: ends in .own if the rule names an owner', (name, ids) => {
    const names = operations.filter(({ id }) => ids.includes(id)).map(({ access }) => access.name);
    const isLimited = names.some((rule) => /\bowner\b|\(own\)/.test(rule));
    expect(isLimited).toBe(name.endsWith('.own'));
  });
});

test('the permissions of an admin contain those of a member', () => {
  const isGranted = (name: string) =>
    admin.some((pattern) => pattern === name || name.startsWith(pattern.replace('*', '')));
  expect(member.filter((name) => !isGranted(name))).toEqual([]);
});
