/** The export service: its wiring. */
import { z } from 'zod';
import { service } from '#libs/service';
import { principalFrom } from '../identity/contract.ts';
import { exportContract } from './contract.ts';
import { defaultTemplate } from './formats/default-template.ts';
import { renderMarkdown } from './formats/markdown.ts';
import { compileTemplate } from './formats/template.ts';
import { renderWord } from './formats/word.ts';
import { markdownExports } from './markdown.ts';
import { documentReader } from './store/documents.ts';
import { templates as templateRows, templateStore } from './store/templates.ts';
import { templating } from './templates.ts';
import { wordExports } from './word.ts';

/** Documents as Word files and as Markdown. */
export const exporting = service({
  contract: exportContract,
  settings: z.object({}),
  collections: [templateRows],
  start({ store, log, now }) {
    const read = documentReader(store);
    const templates = templateStore(store, (what, error) => log.warn({ err: error }, what));
    return {
      handled: [
        ...templating({ templates, compile: compileTemplate, now }),
        ...wordExports({ read, templates, defaultTemplate, render: renderWord }),
        ...markdownExports({ read, render: renderMarkdown }),
      ],
      authenticate: principalFrom(store, now),
    };
  },
});
