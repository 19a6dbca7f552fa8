/** The error for a document that a request names and that does not exist. */
import { InvalidRequest, listErrors } from '#libs/contract';

/** The error for a document that does not exist, which the query or the body names. */
export function unknownDocument(place: 'query' | 'body'): Error {
  const path = `${place}/document_id`;
  return listErrors(InvalidRequest, [{ path, message: 'This document does not exist' }]);
}
