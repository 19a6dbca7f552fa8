/** Invariants of organizations, their members, credentials and invitations. */
import {
  apiKeys,
  departments,
  invitations,
  members,
  notifications,
  organizations,
  passwordResets,
  sessions,
  subscriptions,
  users,
} from '../../../services/identity/store/collections.ts';
import { type Invariant, joinById, reference, rowInvariant } from './invariant.ts';

const membershipId = { $concat: ['$organization_id', ':', '$user_id'] };

/** The epoch of a user or a membership: a missing value means 0. */
const getEpoch = (path: string) => ({ $ifNull: [path, 0] });

/** The invariants of the collections of identity. */
export const identityInvariants: readonly Invariant[] = [
  rowInvariant({
    ...{ collection: organizations, field: 'admins' },
    // one that the operator created has no members until its first admin joins
    description: 'An organization with members has at least one admin.',
    stages: [
      {
        $lookup: {
          ...{ from: members.name, localField: '_id', foreignField: 'organization_id', as: 'roles' },
          pipeline: [{ $group: { _id: '$role' } }],
        },
      },
      { $match: { roles: { $ne: [] }, 'roles._id': { $ne: 'admin' } } },
    ],
  }),
  reference({
    ...{ collection: organizations, field: 'subscription', localField: '_id', target: subscriptions },
    description: 'An organization has a subscription.',
  }),
  reference({
    ...{ collection: subscriptions, field: '_id', target: organizations },
    description: 'A subscription belongs to an organization.',
  }),
  rowInvariant({
    ...{ collection: members, field: '_id' },
    description: 'The id of a membership consists of the ids of its organization and its user.',
    stages: [{ $match: { $expr: { $ne: ['$_id', membershipId] } } }],
  }),
  reference({
    ...{ collection: members, field: 'organization_id', target: organizations },
    description: 'A member belongs to an organization.',
  }),
  reference({
    ...{ collection: members, field: 'user_id', target: users },
    description: 'A member has an account.',
  }),
  rowInvariant({
    ...{ collection: members, field: 'session_epoch' },
    description: 'The session epoch of a member is that of the account.',
    stages: [
      ...joinById(users, 'user_id', ['session_epoch']),
      { $match: { $expr: { $ne: [getEpoch('$session_epoch'), getEpoch('$found.session_epoch')] } } },
    ],
  }),
  rowInvariant({
    ...{ collection: members, field: 'department' },
    description: 'The department of a member is a department of the organization.',
    stages: [
      { $match: { department: { $ne: null } } },
      {
        $lookup: {
          ...{
            from: departments.name,
            localField: 'organization_id',
            foreignField: 'organization_id',
            as: 'found',
          },
          let: { department: '$department' },
          pipeline: [{ $match: { $expr: { $eq: ['$name', '$$department'] } } }, { $project: { _id: 1 } }],
        },
      },
      { $match: { found: [] } },
    ],
  }),
  reference({
    ...{ collection: departments, field: 'organization_id', target: organizations },
    description: 'A department belongs to an organization.',
  }),
  reference({
    ...{ collection: invitations, field: 'organization_id', target: organizations },
    description: 'An invitation belongs to an organization.',
  }),
  reference({
    ...{ collection: invitations, field: 'invited_by', target: users },
    description: 'An invitation was created by a user or by the operator.',
    when: { invited_by: { $ne: null } },
  }),
  rowInvariant({
    ...{ collection: apiKeys, field: 'member_id' },
    description: 'An API key belongs to a member of its organization.',
    stages: [
      { $set: { isOwn: { $eq: ['$member_id', membershipId] } } },
      ...joinById(members, 'member_id', ['_id']),
      { $match: { $or: [{ isOwn: false }, { found: { $exists: false } }] } },
    ],
  }),
  rowInvariant({
    ...{ collection: apiKeys, field: 'created_by_key_id' },
    description:
      'An API key that a key created exists only with that key, and has at most its role and expiry.',
    stages: [
      { $match: { created_by_key_id: { $ne: null } } },
      ...joinById(apiKeys, 'created_by_key_id', ['organization_id', 'role', 'expires_at']),
      {
        $match: {
          $nor: [
            {
              $expr: {
                $and: [
                  { $eq: ['$found.organization_id', '$organization_id'] },
                  { $or: [{ $eq: ['$role', 'member'] }, { $eq: ['$found.role', 'admin'] }] },
                  {
                    $or: [
                      { $eq: ['$found.expires_at', null] },
                      {
                        $and: [
                          { $ne: ['$expires_at', null] },
                          { $lte: ['$expires_at', '$found.expires_at'] },
                        ],
                      },
                    ],
                  },
                ],
              },
            },
          ],
        },
      },
    ],
  }),
  reference({
    ...{ collection: sessions, field: 'user_id', target: users },
    description: 'A session belongs to a user.',
  }),
  reference({
    ...{ collection: sessions, field: 'organization_id', target: organizations },
    description: 'A session belongs to an organization.',
  }),
  reference({
    ...{ collection: passwordResets, field: '_id', target: users },
    description: 'A password reset belongs to a user.',
  }),
  reference({
    ...{ collection: notifications, field: 'organization_id', target: organizations },
    description: 'A notification belongs to an organization.',
  }),
  reference({
    ...{ collection: notifications, field: 'user_id', target: users },
    description: 'A notification belongs to a user.',
  }),
];
