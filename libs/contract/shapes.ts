/** The small shapes that every resource is made of: identifiers, times, positions. */
import { v7 } from 'uuid';
import { z } from 'zod';

/** An opaque identifier: a UUID string (new ones are version 7, ordered by time; RFC 9562). */
export const id = z.uuid().meta({ description: 'Opaque identifier (UUID)' });

/** A new identifier: UUID version 7, 36 characters, ordered by the time of its making. */
export function newId(): string {
  return v7();
}

/** A moment in answers: ISO 8601 in UTC with milliseconds, e.g. `2026-11-21T09:30:00.000Z`. */
export const timestamp = z.iso
  .datetime({ precision: 3 })
  .meta({ description: 'ISO 8601, UTC, milliseconds' });

/** A sort position among siblings: any finite number; lower comes first. */
export const order = z.number().meta({ description: 'Sort position among siblings; lower comes first' });

/** The body of a PATCH: any of the fields, at least one. */
export function patchBody<Fields extends z.ZodRawShape>(fields: Fields) {
  return z
    .strictObject(fields)
    .partial()
    .refine((body) => Object.keys(body).length > 0, 'Name at least one field to change');
}
