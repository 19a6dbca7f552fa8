/** Defines the body that creates a document, in a request and in a library archive. */
import { z } from 'zod';
import type { ContentNotes } from './content.ts';
import { department, language, title, toTreeInput, treeInput, versionLabel } from './shapes.ts';

/** A document to create, with its whole tree. Rich text becomes JSON text. */
export const newDocument = z
  .strictObject({
    title,
    version: versionLabel.nullish(),
    department: department.nullish(),
    language: language.nullish(),
    nodes: treeInput.optional(),
  })
  .transform(({ nodes = [], ...fields }) => {
    const notes: ContentNotes = { warnings: [], assets: [] };
    return { ...fields, nodes: toTreeInput(nodes, notes), ...notes };
  });
