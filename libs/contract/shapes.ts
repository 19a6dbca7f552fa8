/** Schemas that all resources share: identifiers, timestamps, sort positions, PATCH bodies. */
import { v7 } from 'uuid';
import { z } from 'zod';

/** An opaque identifier: a UUID string. New ones are version 7, ordered by time (RFC 9562). */
export const id = z.uuid().meta({ description: 'Opaque identifier (UUID)' });

/** Creates an identifier: UUID version 7, 36 characters, ordered by creation time. */
export function newId(): string {
  return v7();
}

/** A timestamp in responses: ISO 8601 in UTC with milliseconds, e.g. `2026-11-21T09:30:00.000Z`. */
export const timestamp = z.iso
  .datetime({ precision: 3 })
  .meta({ description: 'ISO 8601, UTC, milliseconds' });

/** A sort position among siblings: any finite number. Lower comes first. */
export const order = z.number().meta({ description: 'Sort position among siblings; lower comes first' });

/** Creates the schema of a PATCH body: all fields are optional, at least one is required. */
export function patchBody<Fields extends z.ZodRawShape>(fields: Fields) {
  return z
    .strictObject(fields)
    .partial()
    .refine((body) => Object.keys(body).length > 0, 'Send at least one field to change');
}
