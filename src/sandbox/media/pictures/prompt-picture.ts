import { CELL_HEIGHT, CELL_WIDTH, drawCharacter } from './bitmap-font.js';
import type { Pixels } from './png-image.js';
import { hashText, seededRandom } from '../seeded-random.js';

type Colour = readonly [red: number, green: number, blue: number];

/** Characters per line, and the most lines shown. */
const LINE_CHARACTERS = 32;
const MAX_LINES = 20;

/** A picture that shows its prompt in pixel letters on a gradient. The prompt decides the colours. */
export function promptPicture(prompt: string, width: number, height: number): Pixels {
  const picture: Pixels = { width, height, data: new Uint8Array(width * height * 3) };
  const random = seededRandom(hashText(prompt));
  const colour = (): Colour => [random() * 150, random() * 150, random() * 150];
  paintGradient(picture, colour(), colour());
  const scale = Math.max(1, Math.floor(width / (CELL_WIDTH * (LINE_CHARACTERS + 2))));
  const lines = wrap(prompt).slice(0, MAX_LINES);
  const top = Math.max(0, Math.floor((height - lines.length * CELL_HEIGHT * scale) / 2));
  lines.forEach((line, index) => {
    const left = Math.floor((width - line.length * CELL_WIDTH * scale) / 2);
    writeLine(picture, line, left, top + index * CELL_HEIGHT * scale, scale);
  });
  return picture;
}

function paintGradient({ width, height, data }: Pixels, top: Colour, bottom: Colour): void {
  for (let y = 0; y < height; y++) {
    const progress = y / height;
    const [red, green, blue] = [0, 1, 2].map(
      (i) => (top[i] ?? 0) + ((bottom[i] ?? 0) - (top[i] ?? 0)) * progress,
    );
    for (let at = y * width * 3, end = at + width * 3; at < end; at += 3) {
      data[at] = red ?? 0;
      data[at + 1] = green ?? 0;
      data[at + 2] = blue ?? 0;
    }
  }
}

function writeLine(
  { width, height, data }: Pixels,
  line: string,
  left: number,
  top: number,
  scale: number,
): void {
  Array.from(line).forEach((character, index) => {
    drawCharacter(character, (column, row) => {
      const x = left + (index * CELL_WIDTH + column) * scale;
      const y = top + row * scale;
      if (x < 0 || x + scale > width || y + scale > height) return;
      for (let dy = 0; dy < scale; dy++) {
        const at = ((y + dy) * width + x) * 3;
        data.fill(245, at, at + scale * 3);
      }
    });
  });
}

function wrap(text: string): string[] {
  const lines: string[] = [];
  for (const word of text.split(/\s+/)) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + word.length < LINE_CHARACTERS) {
      lines[lines.length - 1] = `${last} ${word}`;
    } else lines.push(word.slice(0, LINE_CHARACTERS));
  }
  return lines;
}
