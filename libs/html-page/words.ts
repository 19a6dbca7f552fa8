/** The page's own words in each language that it has; all other languages get English. */
import type { HtmlWords } from '#libs/rich-text';

/** The words that a page adds to those of the document. */
export interface PageWords extends HtmlWords {
  skip: string;
  contents: string;
  /** Before the number of a section, as the name of the button that shows its steps. */
  stepsOf: string;
  /** Before one of the next two. */
  status: string;
  draft: string;
  archived: string;
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
  /** At the end of a file. */
  onFile: string;
  /** What a reader confirms, unless the request has its own statement. */
  statement: string;
  /** The heading of the form with which a reader confirms, and its button. */
  acknowledgement: string;
  acknowledge: string;
  /** Before the name of the reader. */
  reader: string;
  /** Before the day on which the reader confirmed. */
  acknowledgedOn: string;
  /** At the top of a page, the link to the form. */
  toAcknowledgement: string;
  /** Instead of the button, if the version cannot be confirmed. */
  notAcknowledgeable: string;
}

const en: PageWords = {
  skip: 'Skip to the document',
  contents: 'Contents',
  stepsOf: 'Steps of',
  status: 'Status',
  draft: 'Draft',
  archived: 'Archived',
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
  onFile: 'This file is a copy. It is not updated.',
  done: 'Done',
  notDone: 'Not done',
  table: 'Table',
  statement: 'I have read and understood this document.',
  acknowledgement: 'Confirmation',
  acknowledge: 'Confirm',
  reader: 'Name',
  acknowledgedOn: 'Confirmed on',
  toAcknowledgement: 'Please read, then confirm at the end',
  notAcknowledgeable: 'This version cannot be confirmed at the moment. Open this link again later.',
};

const de: PageWords = {
  skip: 'Zum Dokument',
  contents: 'Inhalt',
  stepsOf: 'Schritte von',
  status: 'Status',
  draft: 'Entwurf',
  archived: 'Archiviert',
  version: 'Version',
  department: 'Abteilung',
  published: 'Veröffentlicht',
  approvedOn: 'Freigegeben am',
  nextReviewBy: 'Nächste Prüfung bis',
  page: ['Seite', 'von'],
  copies: 'Ausdrucke werden nicht aktualisiert',
  onScreen: 'Dieser Link zeigt immer die zuletzt veröffentlichte Version.',
  onPaper: 'Der Ausdruck zeigt die Version zum Zeitpunkt des Druckens. Der Link zeigt die aktuelle Version.',
  onFile: 'Diese Datei ist eine Kopie. Sie wird nicht aktualisiert.',
  done: 'Erledigt',
  notDone: 'Nicht erledigt',
  table: 'Tabelle',
  statement: 'Ich habe dieses Dokument gelesen und verstanden.',
  acknowledgement: 'Bestätigung',
  acknowledge: 'Bestätigen',
  reader: 'Name',
  acknowledgedOn: 'Bestätigt am',
  toAcknowledgement: 'Bitte lesen und am Ende bestätigen',
  notAcknowledgeable:
    'Diese Version kann gerade nicht bestätigt werden. Öffnen Sie diesen Link später noch einmal.',
};

const fr: PageWords = {
  skip: 'Aller au document',
  contents: 'Sommaire',
  stepsOf: 'Étapes de',
  status: 'Statut',
  draft: 'Brouillon',
  archived: 'Archivé',
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
  onFile: 'Ce fichier est une copie. Il n’est pas mis à jour.',
  done: 'Fait',
  notDone: 'À faire',
  table: 'Tableau',
  statement: 'J’ai lu et compris ce document.',
  acknowledgement: 'Confirmation',
  acknowledge: 'Confirmer',
  reader: 'Nom',
  acknowledgedOn: 'Confirmé le',
  toAcknowledgement: 'Veuillez lire, puis confirmer à la fin',
  notAcknowledgeable: 'Cette version ne peut pas être confirmée pour le moment. Rouvrez ce lien plus tard.',
};

const es: PageWords = {
  skip: 'Ir al documento',
  contents: 'Contenido',
  stepsOf: 'Pasos de',
  status: 'Estado',
  draft: 'Borrador',
  archived: 'Archivado',
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
  onFile: 'Este archivo es una copia. No se actualiza.',
  done: 'Hecho',
  notDone: 'Pendiente',
  table: 'Tabla',
  statement: 'He leído y comprendido este documento.',
  acknowledgement: 'Confirmación',
  acknowledge: 'Confirmar',
  reader: 'Nombre',
  acknowledgedOn: 'Confirmado el',
  toAcknowledgement: 'Lea el documento y confírmelo al final',
  notAcknowledgeable:
    'Esta versión no se puede confirmar en este momento. Vuelva a abrir este enlace más tarde.',
};

/** The words by the language subtag of a tag. */
export const wordsByLanguage: ReadonlyMap<string, PageWords> = new Map(Object.entries({ en, de, fr, es }));

/** The words of languages without a dictionary. */
export const defaultWords: PageWords = en;
