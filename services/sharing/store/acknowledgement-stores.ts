/** Creates all that reads and writes acknowledgements in MongoDB. */
import type { Store } from '#libs/store';
import { memberReader } from './acknowledgement-members.ts';
import { readerStore } from './acknowledgement-readers.ts';
import { requestStore } from './acknowledgement-requests.ts';
import { acknowledgementStore } from './acknowledgements.ts';
import { documentReader } from './documents.ts';
import { findPersonalLink } from './personal-links.ts';

/** Creates the stores and readers. */
export function acknowledgementStores(store: Store) {
  const documents = documentReader(store);
  const acknowledgements = acknowledgementStore(store);
  return {
    documents,
    acknowledgements,
    requests: requestStore(store, documents),
    readers: readerStore(store),
    members: memberReader(store, acknowledgements),
    findPersonalLink: findPersonalLink(store),
  };
}
