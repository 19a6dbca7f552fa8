/** Draws the logo of the fictional Aldermoor Bank: a hill, a sun and the name. */
import { encodePng } from './png.ts';

/** Size in pixels. */
export const LOGO = { width: 1_000, height: 200 };

type Point = [number, number];
type Stroke = Point[];

const GREEN = [11, 79, 74];
const AMBER = [200, 129, 43];
const WHITE = [255, 255, 255];

/** Renders the logo as PNG. */
export function logoPng(): Buffer {
  const strokes = word('ALDERMOOR', 240, 42, 62);
  const small = word('BANK', 243, 142, 26);
  return encodePng(LOGO.width, LOGO.height, (x, y) => {
    const [color, alpha] = pixel([x + 0.5, y + 0.5], strokes, small);
    return [...color, Math.round(alpha * 255)];
  });
}

function pixel(point: Point, strokes: Stroke[], small: Stroke[]): [number[], number] {
  const [x, y] = point;
  if (x < 212) {
    const inside = cover(Math.max(Math.abs(x - 104), Math.abs(y - 100)) - 90);
    if (cover(Math.hypot(x - 140, y - 66) - 24) > 0.5) return [AMBER, inside];
    const hill = Math.min(150 - (x - 18) * 0.9 + 20, 60 + Math.abs(x - 92) * 0.95);
    return [y > hill && y < 172 ? WHITE : GREEN, inside];
  }
  const name = cover(distance(point, strokes) - 7);
  return name > 0 ? [GREEN, name] : [AMBER, cover(distance(point, small) - 3.2)];
}

/** Returns the share of a pixel that is covered at this distance from an edge. */
function cover(distanceFromEdge: number): number {
  return Math.min(1, Math.max(0, 0.5 - distanceFromEdge));
}

function distance([x, y]: Point, strokes: Stroke[]): number {
  let nearest = Number.POSITIVE_INFINITY;
  for (const stroke of strokes)
    for (let at = 1; at < stroke.length; at += 1) {
      const [ax, ay] = stroke[at - 1] ?? [0, 0];
      const [bx, by] = stroke[at] ?? [0, 0];
      const length = (bx - ax) ** 2 + (by - ay) ** 2;
      const share = length === 0 ? 0 : ((x - ax) * (bx - ax) + (y - ay) * (by - ay)) / length;
      const along = Math.min(1, Math.max(0, share));
      nearest = Math.min(nearest, Math.hypot(x - ax - along * (bx - ax), y - ay - along * (by - ay)));
    }
  return nearest;
}

/** Returns the strokes of a word with letters of height `size`. */
function word(text: string, left: number, top: number, size: number): Stroke[] {
  let at = left;
  return [...text].flatMap((letter) => {
    const shape = LETTERS[letter] ?? [];
    const placed = shape.map((stroke) => stroke.map(([x, y]): Point => [at + x * size, top + y * size]));
    at += (Math.max(...shape.flat().map(([x]) => x)) + 0.4) * size;
    return placed;
  });
}

/** Returns points on an ellipse. Angles are quarter turns, clockwise from the right. */
function arc(x: number, y: number, rx: number, ry: number, from: number, to: number): Stroke {
  return Array.from({ length: 17 }, (_point, step): Point => {
    const angle = ((from + ((to - from) * step) / 16) * Math.PI) / 2;
    return [x + rx * Math.cos(angle), y + ry * Math.sin(angle)];
  });
}

const STEM: Stroke = [
  [0, 0],
  [0, 1],
];
const LETTERS: Record<string, Stroke[]> = {
  A: [
    [
      [0, 1],
      [0.4, 0],
      [0.8, 1],
    ],
    [
      [0.15, 0.66],
      [0.65, 0.66],
    ],
  ],
  L: [
    [
      [0, 0],
      [0, 1],
      [0.5, 1],
    ],
  ],
  D: [STEM, [[0, 0], [0.25, 0], ...arc(0.25, 0.5, 0.45, 0.5, -1, 1), [0, 1]]],
  E: [
    [
      [0.52, 0],
      [0, 0],
      [0, 1],
      [0.52, 1],
    ],
    [
      [0, 0.5],
      [0.44, 0.5],
    ],
  ],
  R: [
    STEM,
    [[0, 0], [0.28, 0], ...arc(0.28, 0.27, 0.28, 0.27, -1, 1), [0, 0.54]],
    [
      [0.28, 0.54],
      [0.58, 1],
    ],
  ],
  M: [
    [
      [0, 1],
      [0, 0],
      [0.42, 0.7],
      [0.84, 0],
      [0.84, 1],
    ],
  ],
  O: [arc(0.5, 0.5, 0.5, 0.5, 0, 4)],
  B: [
    STEM,
    [[0, 0], [0.28, 0], ...arc(0.28, 0.24, 0.24, 0.24, -1, 1), [0, 0.48]],
    [[0, 0.48], [0.3, 0.48], ...arc(0.3, 0.74, 0.26, 0.26, -1, 1), [0, 1]],
  ],
  N: [
    [
      [0, 1],
      [0, 0],
      [0.66, 1],
      [0.66, 0],
    ],
  ],
  K: [
    STEM,
    [
      [0.56, 0],
      [0, 0.58],
    ],
    [
      [0.2, 0.4],
      [0.6, 1],
    ],
  ],
};
