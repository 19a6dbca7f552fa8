/** Roles: what each may do, as the reference tells it. */

/** The two roles. */
export const roles = [
  {
    name: 'member' as const,
    description: 'Reads everything of the organization; changes what is theirs or assigned to them.',
    permissions: [
      'documents.read',
      'documents.create',
      'documents.change.own',
      'documents.publish.own',
      'documents.share.own',
      'documents.export',
      'templates.upload',
      'templates.delete.own',
      'webhooks.register',
      'webhooks.change.own',
      'webhooks.test',
      'members.read',
      'api_keys.own',
    ],
  },
  {
    name: 'admin' as const,
    description: 'May do everything in the organization.',
    permissions: [
      'documents.*',
      'templates.*',
      'webhooks.*',
      'members.*',
      'api_keys.*',
      'organization.update',
    ],
  },
];
