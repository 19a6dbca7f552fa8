/** The roles and their permissions, as `GET /roles` returns them. */

/** The two roles. */
export const roles = [
  {
    name: 'member' as const,
    description:
      'Can read everything in the organization, and change what they created or what is assigned to them.',
    permissions: [
      'documents.read',
      'documents.create',
      'documents.change.own',
      'documents.publish.own',
      'documents.approve',
      'documents.review.own',
      'documents.share.own',
      'documents.acknowledge.own',
      'documents.export',
      'templates.upload',
      'templates.delete.own',
      'webhooks.register',
      'webhooks.change.own',
      'webhooks.inspect.own',
      'webhooks.test',
      'webhooks.listen.own',
      'members.read',
      'api_keys.own',
    ],
  },
  {
    name: 'admin' as const,
    description: 'Can do everything in the organization.',
    permissions: [
      'documents.*',
      'templates.*',
      'webhooks.*',
      'members.*',
      'api_keys.*',
      'organization.update',
      'audit_log.read',
    ],
  },
];
