/** Publishing and archiving: from draft to published, for one publish event of the plan, and out of the library. */
import { answer, handle } from '#libs/http';
import {
  archiveDocument,
  DocumentArchived,
  DocumentNotDraft,
  DocumentNotPublished,
  DocumentPublished,
  DocumentRevised,
  publishDocument,
} from './contract.ts';
import { onlyManagers } from './editing.ts';
import { archiveRecordOf, summaryOf } from './presenting.ts';
import { archived, published } from './rules/life.ts';
import type { Show } from './showing.ts';
import type { NodeRow } from './store/collections.ts';
import type { Families } from './store/families.ts';
import { etagOf, type Library } from './store/library.ts';
import type { Quota } from './store/quota.ts';
import type { Trees } from './store/tree.ts';

/** What publishing needs. */
export interface Publishing {
  library: Library;
  trees: Trees;
  families: Families;
  show: Show;
  quota: Quota;
  now: () => Date;
}

/** The operations that publish and archive. */
export function publishing({ library, families, trees, show, quota, now }: Publishing) {
  return [
    handle(
      publishDocument,
      async ({ actor, params, call }) => {
        const useUp = await quota.ready(actor, now());
        const conditions = { refuses: onlyManagers(actor, 'publish'), ifMatch: call.ifMatch };
        let nodes: NodeRow[] = [];
        const document = await library.change(actor, params.doc_id, conditions, async (draft, tx, at) => {
          if (draft.status !== 'draft') throw DocumentNotDraft();
          const isRevision = draft.parent_doc_id !== null;
          if (isRevision) await families.supersede(draft, at, tx);
          await useUp(draft._id, tx);
          const change = published(at);
          const document = summaryOf({ ...draft, ...change, updated_at: at });
          tx.say(isRevision ? DocumentRevised : DocumentPublished, { document });
          nodes = await trees.all(draft, tx);
          return change;
        });
        return show.made(document, nodes);
      },
      {
        mayHave: ({ actor, params }) => library.check(actor, params.doc_id, onlyManagers(actor, 'publish')),
        again: show.again,
      },
    ),

    handle(
      archiveDocument,
      async ({ actor, params, call }) => {
        const conditions = { refuses: onlyManagers(actor, 'archive'), ifMatch: call.ifMatch };
        const document = await library.change(actor, params.doc_id, conditions, async (current, tx, at) => {
          if (current.status !== 'published') throw DocumentNotPublished();
          await families.endLinks(current, tx);
          const change = archived(at);
          tx.say(DocumentArchived, { document: summaryOf({ ...current, ...change, updated_at: at }) });
          return change;
        });
        return answer(archiveRecordOf(document), { etag: etagOf(document) });
      },
      { mayHave: ({ actor, params }) => library.check(actor, params.doc_id, onlyManagers(actor, 'archive')) },
    ),
  ];
}
