/** Draws pictures for test documents as `data:` URLs. */
import { encodePng } from '../../../tests/fixtures/generators/png.ts';

const white = [255, 255, 255, 255];
const blue = [11, 74, 125, 255];
const grey = [205, 212, 220, 255];

/** Five boxes, connected by a line. */
export function drawFlow(width: number, height: number): string {
  const part = width / 5;
  return draw(width, height, (x, y) => {
    const isInBox =
      x % part > part * 0.15 && x % part < part * 0.85 && Math.abs(y - height / 2) < height * 0.3;
    if (isInBox) return blue;
    return Math.abs(y - height / 2) < 3 ? grey : white;
  });
}

/** Bars with a frame, in a picture that may be taller than a page; a cut frame shows a cut picture. */
export function drawBarChart(width: number, height: number): string {
  const part = height / 24;
  return draw(width, height, (x, y) => {
    const isFrame = Math.min(x, y, width - 1 - x, height - 1 - y) < 6;
    if (isFrame) return [176, 32, 32, 255];
    const bar = Math.floor(y / part);
    const length = width * (0.5 + 0.08 * Math.sin(bar * 1.7));
    return x < length && y % part > part * 0.25 ? blue : white;
  });
}

function draw(width: number, height: number, colorAt: (x: number, y: number) => number[]): string {
  return `data:image/png;base64,${encodePng(width, height, colorAt).toString('base64')}`;
}
