/** The page's own words in each language that it has; all other languages get English. */
import type { HtmlWords } from '#libs/rich-text';

/** The words that a page adds to those of the document. */
export interface PageWords extends HtmlWords {
  skip: string;
  contents: string;
  /** Before the number of a section, as the name of the button that shows its steps. */
  stepsOf: string;
  version: string;
  department: string;
  published: string;
  /** Before a day. */
  approvedOn: string;
  nextReviewBy: string;
  /** Before the number of a printed page, and between it and the number of pages. */
  page: [before: string, between: string];
  /** At the bottom of each printed page. */
  copies: string;
  onScreen: string;
  onPaper: string;
}

const en: PageWords = {
  skip: 'Skip to the document',
  contents: 'Contents',
  stepsOf: 'Steps of',
  version: 'Version',
  department: 'Department',
  published: 'Published',
  approvedOn: 'Approved on',
  nextReviewBy: 'Next review by',
  page: ['Page', 'of'],
  copies: 'Printed copies are not updated',
  onScreen: 'This link always shows the latest published version.',
  onPaper:
    'This copy shows the version at the time of printing. The link shows the latest published version.',
  done: 'Done',
  notDone: 'Not done',
  table: 'Table',
};

const de: PageWords = {
  skip: 'Zum Dokument',
  contents: 'Inhalt',
  stepsOf: 'Schritte von',
  version: 'Version',
  department: 'Abteilung',
  published: 'Veröffentlicht',
  approvedOn: 'Freigegeben am',
  nextReviewBy: 'Nächste Prüfung bis',
  page: ['Seite', 'von'],
  copies: 'Ausdrucke werden nicht aktualisiert',
  onScreen: 'Dieser Link zeigt immer die zuletzt veröffentlichte Version.',
  onPaper: 'Der Ausdruck zeigt die Version zum Zeitpunkt des Druckens. Der Link zeigt die aktuelle Version.',
  done: 'Erledigt',
  notDone: 'Nicht erledigt',
  table: 'Tabelle',
};

const fr: PageWords = {
  skip: 'Aller au document',
  contents: 'Sommaire',
  stepsOf: 'Étapes de',
  version: 'Version',
  department: 'Service',
  published: 'Publié',
  approvedOn: 'Approuvé le',
  nextReviewBy: 'Prochaine révision avant le',
  page: ['Page', 'sur'],
  copies: 'Les copies imprimées ne sont pas mises à jour',
  onScreen: 'Ce lien affiche toujours la dernière version publiée.',
  onPaper:
    'Cette copie montre la version au moment de l’impression. Le lien affiche la dernière version publiée.',
  done: 'Fait',
  notDone: 'À faire',
  table: 'Tableau',
};

const es: PageWords = {
  skip: 'Ir al documento',
  contents: 'Contenido',
  stepsOf: 'Pasos de',
  version: 'Versión',
  department: 'Departamento',
  published: 'Publicado',
  approvedOn: 'Aprobado el',
  nextReviewBy: 'Próxima revisión antes del',
  page: ['Página', 'de'],
  copies: 'Las copias impresas no se actualizan',
  onScreen: 'Este enlace muestra siempre la última versión publicada.',
  onPaper:
    'Esta copia muestra la versión en el momento de la impresión. El enlace muestra la última versión publicada.',
  done: 'Hecho',
  notDone: 'Pendiente',
  table: 'Tabla',
};

/** The words by the language subtag of a tag. */
export const wordsByLanguage: ReadonlyMap<string, PageWords> = new Map(Object.entries({ en, de, fr, es }));

/** The words of languages without a dictionary. */
export const defaultWords: PageWords = en;
