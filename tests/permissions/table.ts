/** The permission table: the tests check every operation against it, and docs/permissions.md is generated from it. */

/** All kinds of callers, in the order of the columns. The owner is the member who created the resource. */
export const actors = [
  'anonymous',
  'other organization',
  'member',
  'editor',
  'owner',
  'admin',
  'member key',
  'admin key',
  'expired key',
  'revoked key',
  'removed member',
] as const;
export type Actor = (typeof actors)[number];

/**
 * The response to a caller: `yes` is success, `own` is success limited to resources of the caller or of the caller's
 * organization, and a number is the status of the rejection.
 */
export type Outcome = 'yes' | 'own' | 401 | 403 | 404;

/** A row of the table. */
export interface Rule {
  /** The allowed callers, in words. */
  allowed: string;
  outcomes: Readonly<Record<Actor, Outcome>>;
  /** The required plan. On another plan every member gets 403 `scale_plan_required`. */
  plan?: 'scale';
}

type OutcomesOf<Actors extends readonly string[]> = { readonly [Column in keyof Actors]: Outcome };
type Columns = OutcomesOf<typeof actors>;

const yes = 'yes';
const own = 'own';

// biome-ignore format: the columns are aligned
const rules = {
  // owner: creator of the resource, or its member      anon. other memb. edit. owner admin m.key a.key exp.  rev.  rem.
  anyone:       rule('anyone, without credentials',    [yes,  yes,  yes,  yes,  yes,  yes,  yes,  yes,  yes,  yes,  yes]),
  person:       rule('the logged-in user; no API key', [401,  yes,  yes,  yes,  yes,  yes,  403,  403,  401,  401,  401]),
  anyMember:    rule('any member',                     [401,  own,  yes,  yes,  yes,  yes,  yes,  yes,  401,  401,  401]),
  admins:       rule('admins',                         [401,  own,  403,  403,  403,  yes,  403,  yes,  401,  401,  401]),
  ownAndAdmins: rule('members (own); admins (all)',    [401,  own,  own,  own,  yes,  yes,  own,  yes,  401,  401,  401]),
  ownAlone:     rule('members (own)',                  [401,  own,  own,  own,  yes,  own,  own,  own,  401,  401,  401]),
  // for one resource that the body names; callers outside can name only their own
  ownersNamed:  rule('its owner, admins',              [401,  own,  403,  403,  yes,  yes,  403,  yes,  401,  401,  401]),
  // for one resource in the path
  readers:      rule('any member',                     [401,  404,  yes,  yes,  yes,  yes,  yes,  yes,  401,  401,  401]),
  editors:      rule('its owner, its editor, admins',  [401,  404,  403,  yes,  yes,  yes,  403,  yes,  401,  401,  401]),
  owners:       rule('its owner, admins',              [401,  404,  403,  403,  yes,  yes,  403,  yes,  401,  401,  401]),
  adminsOn:     rule('admins',                         [401,  404,  403,  403,  403,  yes,  403,  yes,  401,  401,  401]),
  adminsSelves: rule('admins, logged in; no API key',  [401,  404,  403,  403,  403,  yes,  403,  403,  401,  401,  401]),
  hidden:       rule('its member, admins',             [401,  404,  404,  404,  yes,  yes,  404,  yes,  401,  401,  401]),
  secret:       rule('its member',                     [401,  404,  404,  404,  yes,  404,  404,  404,  401,  401,  401]),
};

/** One row per operation, under its id. For a special case, words follow the id after a space. */
export const table = {
  getSigningKeys: rules.anyone,
  logIn: rules.anyone,
  logOut: rules.anyone,
  refreshSession: rules.anyone,
  registerOrganization: rules.anyone,
  getOpenApi: rules.anyone,
  getReferencePage: rules.anyone,
  getReferenceAsset: rules.anyone,
  getStartPage: rules.anyone,
  getApiStartPage: rules.anyone,

  getMe: rules.anyMember,
  updatePassword: rules.person,
  listRoles: rules.anyMember,
  listMembers: rules.anyMember,
  updateMember: rules.adminsOn,
  deleteMember: rules.adminsOn,
  createInvitation: rules.admins,
  listInvitations: rules.admins,
  deleteInvitation: rules.adminsOn,
  acceptInvitation: rules.anyone,
  createPasswordReset: rules.adminsSelves,
  resetPassword: rules.anyone,
  getOrganization: rules.anyMember,
  updateOrganization: rules.admins,
  getSubscription: rules.anyMember,
  listDepartments: rules.anyMember,
  createDepartment: rules.admins,
  updateDepartment: rules.adminsOn,
  deleteDepartment: rules.adminsOn,

  createApiKey: rules.anyMember,
  'createApiKey with the role admin': rules.admins,
  listApiKeys: rules.ownAndAdmins,
  deleteApiKey: rules.hidden,
  listInbox: rules.ownAlone,
  countInbox: rules.ownAlone,
  markInboxItemRead: rules.secret,
  markInboxRead: rules.ownAlone,
  deleteInboxItem: rules.secret,

  createDocument: rules.anyMember,
  listDocuments: rules.anyMember,
  countDocuments: rules.anyMember,
  getDocument: rules.readers,
  updateDocument: rules.editors,
  deleteDocument: rules.owners,
  duplicateDocument: rules.readers,
  createNode: rules.editors,
  updateNode: rules.editors,
  deleteNode: rules.editors,
  reorderNodes: rules.editors,
  replaceTree: rules.editors,
  publishDocument: rules.owners,
  reviseDocument: rules.owners,
  archiveDocument: rules.owners,
  listVersions: rules.readers,
  assignEditor: rules.owners,
  triggerWebhooks: rules.owners,

  createShareToken: rules.owners,
  getShareToken: rules.readers,
  deleteShareToken: rules.owners,
  getEmbeddedDocument: rules.anyone,

  createTemplate: rules.anyMember,
  listTemplates: rules.anyMember,
  deleteTemplate: rules.owners,
  exportWord: rules.readers,
  exportMarkdown: rules.readers,

  createWebhook: onScale(rules.anyMember),
  listWebhooks: onScale(rules.anyMember),
  getWebhook: onScale(rules.readers),
  updateWebhook: onScale(rules.owners),
  rotateWebhookSecret: onScale(rules.owners),
  deleteWebhook: onScale(rules.owners),
  testWebhook: onScale(rules.readers),
  listWebhookEvents: onScale(rules.anyMember),
  redeliverWebhookEvent: onScale(rules.owners),
  redeliverFailedEvents: onScale(rules.ownersNamed),
} as const satisfies Record<string, Rule>;
export type RowName = keyof typeof table;

/** Operations of the management port. They accept only the operator's token; other credentials get 401. */
export const operatorOperations = ['setSubscription', 'resetAccountPassword'] as const;
export type OperatorOperation = (typeof operatorOperations)[number];

/** Splits the name of a row into the operation id and the special case, if any. */
export function parseRowName(name: string): { operation: string; special: string | undefined } {
  const [, operation = name, special] = /^(\w+) (.+)$/.exec(name) ?? [];
  return { operation, special };
}

function rule(allowed: string, columns: Columns): Rule {
  const outcomes = Object.fromEntries(actors.map((actor, column) => [actor, columns[column]]));
  // the type of `columns` guarantees one outcome per actor
  return { allowed, outcomes: outcomes as Record<Actor, Outcome> };
}

function onScale(rule: Rule): Rule {
  return { ...rule, allowed: `${rule.allowed} (Scale plan)`, plan: 'scale' };
}
