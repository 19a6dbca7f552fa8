/** The plan of a compiled template: what the renderer needs to know. It is stored as JSON. */
import type { ListPlan } from './lists.ts';
import type { TextArea } from './page.ts';
import type { StyleInfos } from './style-definitions.ts';

/**
 * Where the body is inserted. `placeholder`: at {{content}}. `append`: at the end, because the template has
 * only other placeholders. `styles`: in place of the template's text; headers and footers stay.
 */
export type TemplateMode = 'placeholder' | 'append' | 'styles';

/**
 * `filled` are the parts with slots. `names` is a prefix that no part name or relationship id of the template
 * uses. `room` is the area for the body.
 */
export type TemplatePlan = {
  mode: TemplateMode;
  nonce: string;
  main: string;
  numbering: string;
  stylesPart: string;
  filled: string[];
  names: string;
  styles: StyleInfos;
  tableStyle: string | null;
  lists: ListPlan;
  room: TextArea;
  nextDrawingId: number;
  /** Whether a long document gets a table of contents. The renderer knows the sizes only of the built-in template. */
  hasContents: boolean;
};
