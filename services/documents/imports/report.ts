/** Collects what an import leaves out or changes, for the report to the caller. */

/** The formats of imported files. */
export const importFormats = ['docx', 'markdown', 'html', 'zip', 'library'] as const;
export type ImportFormat = (typeof importFormats)[number];

/** What can be left out, with what it means. */
export const dropNames = {
  front_matter: 'The front matter of a Markdown file; its title, version and department are read',
  table_of_contents: 'A table of contents: the public page and the Word export create their own',
  header: 'A header of pages',
  footer: 'A footer of pages',
  comment: 'A comment',
  hidden_text: 'Text that Word does not show',
  embedded_content: 'A drawing, chart, video, frame or file inside of the file',
  script: 'A script',
  form_control: 'A field or button of a form',
  unsafe_link: 'A link to something other than a web or mail address; its text stays',
} as const;
export type DropName = keyof typeof dropNames;

/** The codes of warnings, with what they mean. */
export const importWarnings = {
  no_headings: 'The file has no headings. Its text is one section',
  front_matter_invalid: 'The front matter is not valid YAML. It stays in the text',
  untitled: 'A heading is empty. Its title is "Untitled"',
  title_cut: 'A title has more than 300 characters. It is cut, and repeated in the text',
  numbers_removed: 'All headings of a level begin with a number. The numbers are removed',
  level_skipped: 'A heading is more than one level below the one before it. It is moved up',
  flattened: 'A list, table or quote is nested too deep. It becomes paragraphs',
  picture_missing: 'The file of a picture is missing, or is not inside the import',
  picture_unsupported: 'A picture is not a PNG, JPEG or GIF, or is damaged',
  picture_too_large: 'A picture is larger than 10 MiB or 100 megapixels',
  picture_cropped: 'A picture is cropped. The import shows all of it, also what was cropped away',
  picture_remote: 'A picture is on another server. It stays a link',
} as const;
export type WarningCode = keyof typeof importWarnings;

/** A warning. `document` is the index of the document; `path` that of the node in it, '' for the document itself. */
export interface ImportWarning {
  code: WarningCode | 'more_warnings';
  message: string;
  document: number;
  path: string;
}

/** What an import did. */
export interface ImportReport {
  format: ImportFormat;
  documents: number;
  nodes: number;
  pictures: number;
  dropped: { what: DropName; count: number }[];
  warnings: ImportWarning[];
}

/** The maximum number of warnings; one more says how many are left out. */
export const maxWarnings = 200;

/** Collects drops and warnings of one import. */
export class ReportCollector {
  private readonly counts = new Map<DropName, number>();
  private readonly warnings: ImportWarning[] = [];
  private omitted = 0;

  /** Counts something that is left out. */
  drop(what: DropName, count = 1): void {
    if (count > 0) this.counts.set(what, (this.counts.get(what) ?? 0) + count);
  }

  /** Adds a warning; `detail` is a short text from the file, such as a title. */
  warn(code: WarningCode, { document = 0, path = '', detail = '' }): void {
    if (this.warnings.length >= maxWarnings) {
      this.omitted += 1;
      return;
    }
    const about = detail === '' ? '' : `: ${[...detail].slice(0, 80).join('')}`;
    this.warnings.push({ code, message: `${importWarnings[code]}${about}.`, document, path });
  }

  /** Returns the drops and warnings. */
  toReport(): Pick<ImportReport, 'dropped' | 'warnings'> {
    const dropped = [...this.counts].map(([what, count]) => ({ what, count }));
    const message = `More warnings: ${this.omitted}.`;
    const more = { code: 'more_warnings' as const, message, document: 0, path: '' };
    return { dropped, warnings: this.omitted > 0 ? [...this.warnings, more] : this.warnings };
  }
}
