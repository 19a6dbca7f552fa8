/** The markup that replaces each placeholder of a template, and each slot of the file's properties. */
import { escapeLine } from '#libs/opc';
import type { DocumentRecord, WordDocument } from '../document.ts';
import type { BodyWriter } from './body-writer.ts';
import { renderHistory } from './history.ts';
import { renderWatermark } from './watermark.ts';

/** The longest version label that fits into a watermark. */
const MAX_WATERMARK_LABEL = 12;

/** Returns the markup by placeholder. What the document does not have is empty. */
export function toPlaceholderValues(
  { plan, direction }: Pick<BodyWriter, 'plan' | 'direction'>,
  document: WordDocument,
): Record<string, string> {
  const { title, version, department, published_at, organization, record } = document;
  const { id, owner, editor, url, exported_at, created_at, updated_at } = record;
  const { approved_by, approved_at, change_summary, content_hash, review_due } = record;
  const texts = {
    title,
    version: version ?? '',
    version_label: formatVersion(version),
    department: department ?? '',
    published_at: published_at?.slice(0, 10) ?? '',
    organization,
    status: formatStatus(record),
    owner,
    editor,
    document_id: id,
    url,
    exported_at,
    created_at,
    updated_at,
    updated_by: editor || owner,
    ...{ approved_by, approved_at, change_summary, content_hash, review_due },
  };
  return {
    ...Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, escapeLine(text)])),
    watermark: renderWatermark(getWatermark(record)),
    history: renderHistory(plan, record.history, direction),
  };
}

/** The version with its word, '' without one. */
export function formatVersion(version: string | null): string {
  return version ? `Version ${version}` : '';
}

/** The status in words. Everything but a published version is in capitals, so that no reader takes it for valid. */
export function formatStatus({ status, superseded_by }: DocumentRecord): string {
  if (status === 'published') return 'Published';
  if (status !== 'superseded') return status.toUpperCase();
  return `SUPERSEDED by ${superseded_by ? `version ${superseded_by}` : 'a later version'}`;
}

function getWatermark({ status, superseded_by }: DocumentRecord): string {
  if (status === 'published') return '';
  const isShort = superseded_by !== '' && [...superseded_by].length <= MAX_WATERMARK_LABEL;
  return status === 'superseded' && isShort ? `SUPERSEDED BY ${superseded_by}` : status.toUpperCase();
}
