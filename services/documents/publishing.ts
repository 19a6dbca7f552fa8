/** Publishing: from draft to published, once, for one publish event of the plan. */
import { Forbidden, json } from '#libs/contract';
import { answer, handle } from '#libs/http';
import { DocumentNotDraft, DocumentPublished, publishDocument } from './contract.ts';
import { documentText, summaryOf } from './presenting.ts';
import { type Asker, type Belongings, canManage } from './rules/permission.ts';
import { etagOf, type Library } from './store/library.ts';
import type { Quota } from './store/quota.ts';

/** The operations of a document's life. */
export function publishing({ library, quota, now }: { library: Library; quota: Quota; now: () => Date }) {
  return [
    handle(
      publishDocument,
      async ({ actor, params, call }) => {
        const terms = await quota.termsFor(actor, now());
        const conditions = { refuses: onlyManagers(actor), ifMatch: call.ifMatch };
        await library.change(actor, params.doc_id, conditions, async (draft, tx, at) => {
          if (draft.status !== 'draft') throw DocumentNotDraft();
          await quota.consume(actor, draft._id, terms, at, tx);
          const change = { status: 'published' as const, published_at: at };
          tx.say(DocumentPublished, { document: summaryOf({ ...draft, ...change, updated_at: at }) });
          return change;
        });
        const { document, nodes } = await library.whole(actor, params.doc_id);
        return answer(json(documentText(document, nodes)), { etag: etagOf(document) });
      },
      { mayHave: ({ actor, params }) => library.check(actor, params.doc_id, onlyManagers(actor)) },
    ),
  ];
}

function onlyManagers(actor: Asker) {
  return (document: Belongings) =>
    canManage(actor, document)
      ? undefined
      : Forbidden('Only the owner or an admin may publish this document.');
}
