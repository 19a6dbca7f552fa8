/** Reads the orientation from EXIF metadata, and writes metadata that says nothing else (Exif 3.0, TIFF 6.0). */
import { byteReader, startsWith } from './byte-reader.ts';
import { PictureRejected } from './fault.ts';

const orientationTag = 0x0112;
const shortType = 3;

/** Returns the orientation, 1 to 8, of EXIF metadata, which starts with a TIFF header. 1 means upright. */
export function readOrientation(tiff: Uint8Array): number {
  const littleEndian = startsWith(tiff, 'II*\0');
  if (!littleEndian && !startsWith(tiff, 'MM\0*')) return 1;
  const reader = byteReader(tiff, { littleEndian });
  try {
    reader.seek(4);
    reader.seek(reader.uint32());
    for (let left = reader.uint16(); left > 0; left -= 1) {
      const [tag, type, count, value] = [reader.uint16(), reader.uint16(), reader.uint32(), reader.uint16()];
      reader.take(2);
      if (tag === orientationTag && type === shortType && count === 1)
        return value >= 1 && value <= 8 ? value : 1;
    }
  } catch (error) {
    // metadata that cannot be read is removed like any other
    if (!(error instanceof PictureRejected)) throw error;
  }
  return 1;
}

/** Writes metadata with one entry, the orientation. */
export function writeOrientation(orientation: number): Uint8Array {
  const header = [...'MM\0*'].map((character) => character.charCodeAt(0));
  const entry = [0x01, 0x12, 0, shortType, 0, 0, 0, 1, 0, orientation, 0, 0];
  return Uint8Array.from([...header, 0, 0, 0, 8, 0, 1, ...entry, 0, 0, 0, 0]);
}

/** Returns the size of the upright picture. Orientations from 5 on lie on their side. */
export function toUprightSize({ width, height }: { width: number; height: number }, orientation: number) {
  return orientation >= 5 ? { width: height, height: width } : { width, height };
}
