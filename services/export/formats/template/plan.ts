/** The facts about a compiled template that the renderer needs; JSON, so that it can be kept beside the bytes. */
import type { ListPlan } from './lists.ts';
import type { TextArea } from './page.ts';
import type { StyleInfos } from './styles.ts';

/**
 * `placeholder`: the body goes where the template says {{content}}; `append`: at the end, as the template has other
 * placeholders only; `styles`: it takes the place of the template's text, of which headers and footers stay.
 */
export type TemplateMode = 'placeholder' | 'append' | 'styles';

/** `filled` are the parts with slots in them; `names` is free in part names and relationship ids of the template. */
export type TemplatePlan = {
  mode: TemplateMode;
  nonce: string;
  main: string;
  numbering: string;
  filled: string[];
  names: string;
  styles: StyleInfos;
  tableStyle: string | null;
  lists: ListPlan;
  room: TextArea;
  nextDrawingId: number;
};
