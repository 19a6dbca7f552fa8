/** Embedding: what a public link shows to anyone who has it. */
import { LRUCache } from 'lru-cache';
import { json, NotFound, type Problem, Unavailable } from '#libs/contract';
import { answer, type Handled, handle } from '#libs/http';
import { getEmbed } from './contract.ts';
import { embedJson, etagOf } from './embed-json.ts';
import { isWellFormedToken, opens } from './rules.ts';
import type { DocumentState, SharingStore } from './store.ts';

/** What embedding needs. */
export interface Embedding {
  sharing: Pick<SharingStore, 'organizationBySlug' | 'byToken' | 'published' | 'document' | 'nodes'>;
  /** Bytes of rendered documents kept in memory. */
  cacheBytes: number;
}

/** How often a document that changes while it is read is read again. */
const tries = 5;

/** On every answer of a public link, found or not. */
const publicHeaders = {
  'Cache-Control': 'no-cache',
  'Referrer-Policy': 'no-referrer',
  'X-Robots-Tag': 'noindex',
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers': 'ETag, X-Request-Id',
  Vary: 'Accept',
};

/** Stands for an id that was not found, so that every 404 asks MongoDB the same questions. */
const nobody = '00000000-0000-0000-0000-000000000000';

/** The operation behind public links. */
export function embedding({ sharing, cacheBytes }: Embedding): Handled[] {
  // one rendering for all who ask at once; nothing is kept of a document that changed while it was read
  const rendered = new LRUCache<string, Uint8Array, DocumentState>({
    maxSize: cacheBytes,
    sizeCalculation: (bytes, etag) => bytes.byteLength + etag.length,
    fetchMethod: (_etag, _stale, { context }) => render(context),
  });

  return [
    handle(getEmbed, async ({ params }) => {
      for (let left = tries; left > 0; left -= 1) {
        const document = await opened(params);
        if (!document) throw closed();
        const etag = etagOf(document);
        const bytes = await rendered.fetch(etag, { context: document });
        if (bytes) return answer(json(bytes), { etag, headers: publicHeaders });
      }
      throw Unavailable('The document is being changed at this moment: try again.', {
        headers: { ...publicHeaders, 'Retry-After': '1' },
      });
    }),
  ];

  /** The small rows that decide are read on every request; nothing about them is remembered. */
  async function opened({ org_slug, token }: { org_slug: string; token: string }) {
    if (!isWellFormedToken(token)) return undefined;
    const [organization, held] = await Promise.all([
      sharing.organizationBySlug(org_slug),
      sharing.byToken(token),
    ]);
    const document = await sharing.published(held?.organization_id ?? nobody, held?.family_id ?? nobody);
    return opens({ token, organization, held, document });
  }

  /** The bytes of a document, or nothing when it changed while its nodes were read. */
  async function render(document: DocumentState): Promise<Uint8Array | undefined> {
    const nodes = await sharing.nodes(document._id);
    const after = await sharing.document(document.organization_id, document._id);
    if (after?.row_version !== document.row_version) return undefined;
    return Buffer.from(embedJson(document, nodes));
  }
}

/** One answer for every cause. */
function closed(): Problem {
  return NotFound(undefined, { headers: publicHeaders });
}
