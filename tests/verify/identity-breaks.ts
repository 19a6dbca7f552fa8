/** Changes that break the invariants of identity. */
import {
  type Break,
  type Breaks,
  copy,
  type Fields,
  findFirst,
  nobody,
  remove,
  set,
  stranger,
  yesterday,
} from './change-rows.ts';

/** Changes a key that created another key, and the other one, whose id is reported. */
function changeCreator(creator: Fields, created: Fields = {}): Break {
  return async (db) => {
    const { _id, created_by_key_id } = await findFirst(db, 'api_keys', { created_by_key_id: { $ne: null } });
    await set('api_keys', creator, { _id: created_by_key_id })(db);
    return set('api_keys', { expires_at: null, ...created }, { _id })(db);
  };
}

/** The changes by invariant. */
export const identityBreaks: Breaks = {
  'organizations.admins': [
    async (db) => {
      const { _id, organization_id } = await findFirst(db, 'members', { role: 'admin' });
      await set('members', { role: 'member' }, { _id })(db);
      return String(organization_id);
    },
  ],
  'audit_log.hash': [
    set('audit_log', { details: '{}' }),
    set('audit_log', { previous_hash: '1'.repeat(64) }, { seq: 2 }),
    async (db) => {
      const { organization_id } = await findFirst(db, 'audit_log', { seq: 3 });
      await remove('audit_log', { organization_id, seq: 2 })(db);
      return String((await findFirst(db, 'audit_log', { organization_id, seq: 3 }))._id);
    },
    async (db) => {
      const { organization_id } = await findFirst(db, 'audit_log', { seq: 2 });
      await remove('audit_log', { organization_id, seq: 1 })(db);
      return String((await findFirst(db, 'audit_log', { organization_id, seq: 2 }))._id);
    },
  ],
  'organizations.subscription': [remove('subscriptions')],
  'subscriptions._id': [copy('subscriptions', { _id: nobody })],
  'members._id': [set('members', { user_id: nobody })],
  'members.organization_id': [copy('members', { _id: 'copy', ...stranger })],
  'members.user_id': [copy('members', { _id: 'copy', user_id: nobody })],
  'members.session_epoch': [set('members', { session_epoch: 7 })],
  'members.department': [set('members', { department: 'Nowhere' })],
  'departments.organization_id': [set('departments', stranger)],
  'invitations.organization_id': [set('invitations', stranger)],
  'invitations.invited_by': [set('invitations', { invited_by: nobody })],
  'api_keys.member_id': [
    set('api_keys', { user_id: nobody }),
    set('api_keys', stranger),
    set('api_keys', { member_id: `${nobody}:${nobody}`, organization_id: nobody, user_id: nobody }),
  ],
  'api_keys.created_by_key_id': [
    set('api_keys', { created_by_key_id: nobody }, { created_by_key_id: { $ne: null } }),
    changeCreator({ role: 'member' }, { role: 'admin' }),
    changeCreator({ expires_at: yesterday }),
    changeCreator({ expires_at: yesterday }, { expires_at: new Date() }),
    changeCreator(stranger),
  ],
  'sessions.user_id': [set('sessions', { user_id: nobody })],
  'sessions.organization_id': [set('sessions', stranger)],
  'password_resets._id': [copy('password_resets', { _id: nobody, token_hash: 'copy' })],
  'notifications.organization_id': [set('notifications', stranger)],
  'notifications.user_id': [set('notifications', { user_id: nobody })],
};
