/** Changes that break the invariants of public links, templates and webhooks. */
import mongoose from 'mongoose';
import {
  type Breaks,
  change,
  copy,
  findFirst,
  getRows,
  nobody,
  remove,
  set,
  stranger,
  yesterday,
} from './change-rows.ts';

/** The changes of public links and templates by invariant. */
export const sharingBreaks: Breaks = {
  'share_tokens.organization_id': [set('share_tokens', stranger)],
  'share_tokens.family_id': [set('share_tokens', { family_id: nobody }), set('share_tokens', stranger)],
  'share_tokens.password_hash': [
    set('share_tokens', { password_hash: 'a password' }),
    set('share_tokens', { password_hash: null }),
  ],
  'share_tokens.share_epoch': [change('share_tokens', {}, { $inc: { share_epoch: 1 } })],
  'templates.organization_id': [set('templates', stranger)],
  'templates.created_by': [set('templates', { created_by: nobody })],
  'templates.original_file': [
    set('templates', { original_file: new mongoose.mongo.ObjectId() }),
    change('templates', {}, { $inc: { size_bytes: 1 } }),
  ],
  'templates.compiled_file': [set('templates', { compiled_file: new mongoose.mongo.ObjectId() })],
  'template_files.files.length': [remove('template_files.chunks', {}, 'files_id')],
  'template_files.files.filename': [
    set('template_files.files', { uploadDate: yesterday, filename: `${nobody}/original.docx` }),
  ],
  'template_files.chunks.files_id': [
    set('template_files.chunks', {
      files_id: mongoose.mongo.ObjectId.createFromTime(Number(yesterday) / 1_000),
    }),
  ],
};

/** The changes of webhooks by invariant. */
export const webhookBreaks: Breaks = {
  'webhook_configs.organization_id': [set('webhook_configs', stranger)],
  'webhook_configs.created_by': [set('webhook_configs', { created_by: nobody })],
  'webhook_configs.secrets': [
    set('webhook_configs', { secrets: [] }),
    set('webhook_configs', { 'secrets.0.until': yesterday }),
    change('webhook_configs', {}, { $push: { secrets: { sealed: 'older', until: null } } }),
  ],
  'webhook_events.organization_id': [set('webhook_events', stranger)],
  'webhook_events.occurred_at': [
    copy('webhook_events', { _id: nobody }),
    async (db) => {
      const { _id } = await findFirst(db, 'webhook_events');
      for (const outbox of ['documents_outbox', 'identity_outbox'])
        await getRows(db, outbox).deleteOne({ _id });
      return _id;
    },
  ],
  'webhook_events.recipient_ids': [
    change('webhook_events', {}, { $set: { created_at: yesterday }, $push: { recipient_ids: nobody } }),
    async (db) => {
      const event = await set('webhook_events', { created_at: yesterday })(db);
      return remove('webhook_deliveries', { event_id: event }, 'event_id')(db);
    },
  ],
  'webhook_deliveries.organization_id': [set('webhook_deliveries', stranger)],
  'webhook_deliveries.event_id': [
    set('webhook_deliveries', { event_id: nobody }),
    set('webhook_deliveries', stranger),
  ],
  'webhook_deliveries.config_id': [
    set('webhook_deliveries', { config_id: nobody, status: 'pending', due_at: yesterday }),
    set('webhook_deliveries', { ...stranger, status: 'pending', locked_until: yesterday }),
  ],
  'webhook_deliveries.status': [
    set('webhook_deliveries', { status: 'pending' }),
    set('webhook_deliveries', { due_at: new Date() }),
    set('webhook_deliveries', { status: 'pending', due_at: new Date(), lock_token: 'token' }),
    set('webhook_deliveries', { status: 'pending', lock_token: 'token' }),
    set('webhook_deliveries', { status: 'unknown' }),
  ],
  'webhook_deliveries.attempts': [
    set('webhook_deliveries', { attempts: 4 }),
    set('webhook_deliveries', { attempts: -1 }, { status: 'failed' }),
    set('webhook_deliveries', { attempts: 0 }, { status: 'delivered' }),
  ],
  'webhook_deliveries.due_at': [
    set('webhook_deliveries', { status: 'pending', due_at: yesterday }),
    set('webhook_deliveries', { status: 'pending', locked_until: yesterday }),
  ],
  'webhook_listeners.organization_id': [set('webhook_listeners', stranger)],
  'webhook_listeners.user_id': [set('webhook_listeners', { user_id: nobody })],
  'webhook_listener_events.listener_id': [set('webhook_listener_events', stranger)],
  'webhook_listener_events.event_id': [
    copy('webhook_listener_events', { _id: nobody, event_id: nobody }),
    async (db) => {
      const { _id, event_id } = await findFirst(db, 'webhook_listener_events');
      for (const outbox of ['documents_outbox', 'identity_outbox'])
        await getRows(db, outbox).deleteOne({ _id: String(event_id) });
      return _id;
    },
  ],
};
