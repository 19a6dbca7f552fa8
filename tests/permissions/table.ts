/** The permission table: the tests check every operation against it, and docs/permissions.md is generated from it. */
import type { AnyOperation } from '#libs/contract';
import { contracts } from '../../services/contracts.ts';

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
 * organization, and a number is the status of the rejection. 400: the body names a resource of another organization.
 */
export type Outcome = 'yes' | 'own' | 400 | 401 | 403 | 404;

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

/**
 * The outcomes for each access rule, by its name, in the order of `actors`. For callers of another organization, `own`
 * becomes 404 if the path names a resource.
 */
// biome-ignore format: the columns are aligned
const rules: Record<string, Rule> = {
  'anyone':                rule('anyone, without credentials',    [yes,  yes,  yes,  yes,  yes,  yes,  yes,  yes,  yes,  yes,  yes]),
  'member, logged in':     rule('the logged-in user; no API key', [401,  yes,  yes,  yes,  yes,  yes,  403,  403,  401,  401,  401]),
  'member':                rule('any member',                     [401,  own,  yes,  yes,  yes,  yes,  yes,  yes,  401,  401,  401]),
  'admin':                 rule('admins',                         [401,  own,  403,  403,  403,  yes,  403,  yes,  401,  401,  401]),
  'admin, logged in':      rule('admins, logged in; no API key',  [401,  own,  403,  403,  403,  yes,  403,  403,  401,  401,  401]),
  'owner or admin':        rule('its owner, admins',              [401,  own,  403,  403,  yes,  yes,  403,  yes,  401,  401,  401]),
  'owner, editor or admin': rule('its owner, its editor, admins', [401,  own,  403,  yes,  yes,  yes,  403,  yes,  401,  401,  401]),
  'its owner, editor or admin':
                           rule('its owner, its editor, admins',  [401,  400,  403,  yes,  yes,  yes,  403,  yes,  401,  401,  401]),
  'its owner or admin':    rule('its owner, admins',              [401,  400,  403,  403,  yes,  yes,  403,  yes,  401,  401,  401]),
  'submitter, owner or admin':
                           rule('its submitter, its owner, admins', [401, own, 403,  403,  yes,  yes,  403,  yes,  401,  401,  401]),
  // in the sample request, the admin is the approver
  'approver, in person':   rule('its approvers (here the admin); no API key', [401, own, 403, 403, 403, yes, 403, 403, 401, 401, 401]),
  // in the sample request, the owner and the admin are asked
  'audience, in person':   rule('its audience (here owner and admin); no API key', [401, 400, 403, 403, yes, yes, 403, 403, 401, 401, 401]),
  // in the sample request, the editor is the reviewer
  'reviewer, owner or admin, in person':
                           rule('its reviewer (here the editor), its owner, admins; no API key',
                                                                  [401,  own,  403,  yes,  yes,  yes,  403,  403,  401,  401,  401]),
};

/** The outcomes for a list that shows callers only what belongs to them, by the name of its access rule. */
// biome-ignore format: the columns are aligned
const listRules: Record<string, Rule> = {
  'member (own)':              rule('members (own)',              [401,  own,  own,  own,  yes,  own,  own,  own,  401,  401,  401]),
  'member (own), admin (all)': rule('members (own); admins (all)', [401,  own,  own,  own,  yes,  yes,  own,  yes,  401,  401,  401]),
};

/** The outcomes for one resource that nobody else may know about, by the name of the access rule. */
// biome-ignore format: the columns are aligned
const hiddenRules: Record<string, Rule> = {
  'member (own)':              rule('its member',                 [401,  404,  404,  404,  yes,  404,  404,  404,  401,  401,  401]),
  'member (own), admin (all)': rule('its member, admins',         [401,  404,  404,  404,  yes,  yes,  404,  yes,  401,  401,  401]),
};

/** Requests whose outcome depends on their body. Words follow the operation id after a space. */
const specialRows: Record<string, Rule> = { 'createApiKey with the role admin': getRule('admin', false) };

/** One row per operation, under its id, and the special rows. */
export const table: Readonly<Record<string, Rule>> = Object.fromEntries(
  contracts
    .flatMap(({ operations }) => operations)
    .flatMap((operation) => [
      [operation.id, toRule(operation)] as const,
      ...Object.entries(specialRows).filter(([name]) => parseRowName(name).operation === operation.id),
    ]),
);

/** Returns the row with this name. */
export function getRow(name: string): Rule {
  const row = table[name];
  if (!row) throw new Error(`The permission table has no row ${name}`);
  return row;
}

/** Operations of the management port. They accept only the operator's token; other credentials get 401. */
export const operatorOperations = [
  'createOrganization',
  'inviteToOrganization',
  'setSubscription',
  'resetAccountPassword',
] as const;
export type OperatorOperation = (typeof operatorOperations)[number];

/** Splits the name of a row into the operation id and the special case, if any. */
export function parseRowName(name: string): { operation: string; special: string | undefined } {
  const [, operation = name, special] = /^(\w+) (.+)$/.exec(name) ?? [];
  return { operation, special };
}

function toRule({ access, params }: AnyOperation): Rule {
  const [, name = access.name, plan] = /^(.+), (Scale) plan$/.exec(access.name) ?? [];
  const rule = getRule(name, params !== undefined);
  return plan ? { ...rule, allowed: `${rule.allowed} (Scale plan)`, plan: 'scale' } : rule;
}

/** Returns the outcomes for an access rule. `hasResource`: the path names a resource. */
function getRule(name: string, hasResource: boolean): Rule {
  const special = hasResource ? hiddenRules[name] : listRules[name];
  if (special) return special;
  const rule = rules[name];
  if (!rule) throw new Error(`The permission table has no rule for the access ${name}`);
  const outsider = rule.outcomes['other organization'];
  if (!hasResource || outsider !== own) return rule;
  return { ...rule, outcomes: { ...rule.outcomes, 'other organization': 404 } };
}

function rule(allowed: string, columns: Columns): Rule {
  const outcomes = Object.fromEntries(actors.map((actor, column) => [actor, columns[column]]));
  // the type of `columns` guarantees one outcome per actor
  return { allowed, outcomes: outcomes as Record<Actor, Outcome> };
}
