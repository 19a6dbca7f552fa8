/** The export service: its wiring. */
import { z } from 'zod';
import { every, service } from '#libs/service';
import { principalFrom } from '../identity/contract.ts';
import { exportContract } from './contract.ts';
import { defaultTemplate } from './formats/default-template.ts';
import { renderMarkdown } from './formats/markdown.ts';
import { compileTemplate } from './formats/template.ts';
import { renderWord } from './formats/word.ts';
import { markdownExports } from './markdown.ts';
import { documentReader } from './store/documents.ts';
import { leftovers } from './store/leftovers.ts';
import { templates as templateRows, templateStore } from './store/templates.ts';
import { templating } from './templates.ts';
import { wordExports } from './word.ts';

const hourMs = 60 * 60 * 1000;

/** Documents as Word files and as Markdown. */
export const exporting = service({
  contract: exportContract,
  settings: z.object({}),
  collections: [templateRows],
  start({ store, log, now }) {
    const read = documentReader(store);
    const templates = templateStore(store, (what, error) => log.warn({ err: error }, what));
    const sweepLeftovers = leftovers(store, now);
    const sweep = async () => {
      const files = await sweepLeftovers();
      if (files > 0) log.info({ files }, 'Files of templates that were never finished are removed');
    };
    return {
      handled: [
        ...templating({ templates, compile: compileTemplate, now }),
        ...wordExports({ read, templates, defaultTemplate, render: renderWord }),
        ...markdownExports({ read, render: renderMarkdown }),
      ],
      authenticate: principalFrom(store, now),
      workers: [
        every(hourMs, sweep, (error) => log.warn({ err: error }, 'Template files could not be swept')),
      ],
    };
  },
});
