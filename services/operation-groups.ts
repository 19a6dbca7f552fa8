/** The groups of operations in the API reference, in the order in which a reader needs them. */
import type { OperationGroup } from '#libs/contract';

/** Every operation is in exactly one group. Groups and operations are shown in this order. */
export const operationGroups: readonly OperationGroup[] = [
  {
    name: 'Start here',
    description:
      'Register an organization, see who you are, and read this reference. Then create an API key (*Keys*) and your first document (*Documents*).',
    operations: [
      ...['registerOrganization', 'getMe', 'getStartPage', 'getApiStartPage'],
      ...['getReferencePage', 'getReferenceAsset', 'getOpenApi'],
    ],
  },
  {
    name: 'Documents',
    description: 'Create, find, change, copy and delete documents, and assign their editors.',
    operations: [
      ...['createDocument', 'listDocuments', 'countDocuments', 'getDocument', 'updateDocument'],
      ...['assignEditor', 'duplicateDocument', 'deleteDocument'],
    ],
  },
  {
    name: 'Tree',
    description: 'The sections, steps and sub-steps of a document, one at a time or all at once.',
    operations: ['createNode', 'updateNode', 'reorderNodes', 'replaceTree', 'deleteNode'],
  },
  {
    name: 'Import',
    description: 'Word, Markdown and HTML files become drafts.',
    operations: ['previewImport', 'createImport'],
  },
  {
    name: 'Pictures',
    description: 'Uploaded pictures, which image nodes show by their id.',
    operations: ['createAsset', 'getAsset'],
  },
  {
    name: 'Publishing',
    description:
      'The lifecycle of a document: publish a draft, revise what is published, archive and restore it, compare versions.',
    operations: [
      ...['publishDocument', 'reviseDocument', 'archiveDocument', 'restoreDocument', 'listVersions'],
      'compareVersions',
    ],
  },
  {
    name: 'Approval',
    description: 'Approval before publication: set approvers, submit a draft, approve or reject it.',
    operations: [
      ...['updateApprovers', 'requestApproval', 'listApprovals', 'getApproval', 'decideApproval'],
      'withdrawApproval',
    ],
  },
  {
    name: 'Review',
    description:
      'Periodic review of published documents: set reviewer and interval, confirm that all is correct.',
    operations: ['updateReview', 'confirmReview'],
  },
  {
    name: 'Sharing',
    description: 'Public links: everyone who has the link can read the published version without a login.',
    operations: [
      ...['createShareToken', 'getShareToken', 'updateShareToken', 'deleteShareToken', 'getEmbeddedDocument'],
      ...['submitSharePassword', 'getEmbeddedAsset'],
    ],
  },
  {
    name: 'Read acknowledgement',
    description:
      'Ask people to read a document and to acknowledge it: members by an audience, others by personal links.',
    operations: [
      ...['requestAcknowledgement', 'listAcknowledgementRequests', 'getAcknowledgementRequest'],
      ...['updateAcknowledgementRequest', 'closeAcknowledgementRequest', 'addReaders', 'deleteReader'],
      ...['listPeople', 'createAcknowledgement', 'listAcknowledgements', 'readDocument', 'acknowledgeByLink'],
      'getReadingAsset',
    ],
  },
  {
    name: 'Export and templates',
    description:
      'Download documents as Word files, in your own template, as Markdown or HTML, or all in one archive.',
    operations: [
      ...['exportWord', 'exportMarkdown', 'exportHtml', 'exportLibrary'],
      ...['createTemplate', 'listTemplates', 'deleteTemplate'],
    ],
  },
  {
    name: 'Webhooks',
    description: 'Send events to other systems. Deliveries are signed, retried and logged.',
    operations: [
      ...['createWebhook', 'listWebhooks', 'getWebhook', 'updateWebhook', 'rotateWebhookSecret'],
      ...['deleteWebhook', 'testWebhook', 'triggerWebhooks'],
      ...['listWebhookEvents', 'getWebhookEvent', 'redeliverWebhookEvent', 'redeliverFailedEvents'],
      ...['createWebhookListener', 'receiveWebhookEvents', 'confirmWebhookEvents', 'deleteWebhookListener'],
    ],
  },
  {
    name: 'Members',
    description: 'The people of the organization, their roles and invitations.',
    operations: [
      ...['listMembers', 'updateMember', 'deleteMember', 'createPasswordReset', 'listRoles'],
      ...['createInvitation', 'listInvitations', 'deleteInvitation', 'acceptInvitation'],
    ],
  },
  {
    name: 'Organization',
    description: 'The organization, its settings, its plan and its departments.',
    operations: [
      ...['getOrganization', 'updateOrganization', 'getSubscription'],
      ...['listDepartments', 'createDepartment', 'updateDepartment', 'deleteDepartment'],
    ],
  },
  {
    name: 'Keys',
    description: 'API keys, with which other systems call the API.',
    operations: ['createApiKey', 'listApiKeys', 'deleteApiKey', 'deleteOwnApiKeys'],
  },
  {
    name: 'Audit log',
    description: 'Who changed what, and when: a log that nobody can change without being noticed.',
    operations: ['listAuditLog', 'exportAuditLog'],
  },
  {
    name: 'Inbox',
    description: 'The notifications of the member who calls.',
    operations: ['listInbox', 'countInbox', 'markInboxItemRead', 'markInboxRead', 'deleteInboxItem'],
  },
  {
    name: 'Sessions',
    description: 'Log in with a password, stay logged in, log out. Other systems use API keys instead.',
    operations: ['logIn', 'refreshSession', 'logOut', 'updatePassword', 'resetPassword', 'getSigningKeys'],
  },
];
