/** Publishing: from draft to published, once, for one publish event of the plan. */
import { Forbidden } from '#libs/contract';
import { handle } from '#libs/http';
import { DocumentNotDraft, DocumentPublished, publishDocument } from './contract.ts';
import { summaryOf } from './presenting.ts';
import { type Asker, type Belongings, canManage } from './rules/permission.ts';
import type { Show } from './showing.ts';
import type { Library } from './store/library.ts';
import type { Quota } from './store/quota.ts';

/** What publishing needs. */
export interface Publishing {
  library: Library;
  show: Show;
  quota: Quota;
  now: () => Date;
}

/** The operations of a document's life. */
export function publishing({ library, show, quota, now }: Publishing) {
  return [
    handle(
      publishDocument,
      async ({ actor, params, call }) => {
        const terms = await quota.termsFor(actor, now());
        const conditions = { refuses: onlyManagers(actor), ifMatch: call.ifMatch };
        const published = await library.change(actor, params.doc_id, conditions, async (draft, tx, at) => {
          if (draft.status !== 'draft') throw DocumentNotDraft();
          await quota.consume(actor, draft._id, terms, at, tx);
          const change = { status: 'published' as const, published_at: at };
          tx.say(DocumentPublished, { document: summaryOf({ ...draft, ...change, updated_at: at }) });
          return change;
        });
        return show.row(actor, published);
      },
      {
        mayHave: ({ actor, params }) => library.check(actor, params.doc_id, onlyManagers(actor)),
        again: show.again,
      },
    ),
  ];
}

function onlyManagers(actor: Asker) {
  return (document: Belongings) =>
    canManage(actor, document)
      ? undefined
      : Forbidden('Only the owner or an admin may publish this document.');
}
