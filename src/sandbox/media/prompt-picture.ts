import { promisify } from 'node:util';
import { crc32, deflate } from 'node:zlib';
import { hashText, seededRandom } from './seeded-random.js';

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

const deflateAsync = promisify(deflate);

/** Pixels as red, green and blue bytes, row by row. */
export interface Pixels {
  readonly width: number;
  readonly height: number;
  readonly data: Uint8Array;
}

/** Encodes pixels as a PNG file (8-bit RGB). The compression runs in another thread. */
export async function encodePng({ width, height, data }: Pixels): Promise<Buffer> {
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, 2, 0, 0, 0], 8);
  const stride = width * 3;
  const rows = Buffer.alloc((stride + 1) * height);
  for (let y = 0; y < height; y++) {
    rows.set(data.subarray(y * stride, (y + 1) * stride), y * (stride + 1) + 1);
  }
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    chunk('IHDR', head),
    chunk('IDAT', await deflateAsync(rows, { level: 1 })),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const frame = Buffer.alloc(body.length + 8);
  frame.writeUInt32BE(data.length, 0);
  frame.set(body, 4);
  frame.writeUInt32BE(crc32(body), body.length + 4);
  return frame;
}

/** Size of a character cell in font dots: five columns of eight rows, and a gap of one. */
export const CELL_WIDTH = 6;
export const CELL_HEIGHT = 10;
const COLUMNS = 5;
const ROWS = 8;
const FIRST = 0x20;

/** The printable ASCII characters, five columns each as two hex digits, lowest bit on top. */
const GLYPHS =
  '000000000000005f00000007000700147f147f14242a7f2a12231308646236495620500008070300001c2241000041221c002a1c7f1c2a' +
  '08083e0808008070300008080808080000606000201008040' +
  '23e5149453e00427f4000724949494621' +
  '41494d331814127f1027454545393c4a49493141211109073649494936464929291e' +
  '0000140000004034000000081422411414141414004122140802015909063e415d594e' +
  '7c1211127c7f494949363e414141227f4141413e7f494949417f090909013e414151737f0808087f00417f41002040413f017f081422417f40404040' +
  '7f021c027f7f0408107f3e4141413e7f090909063e4151215e7f09192946264949493203017f01033f4040403f1f2040201f3f4038403f63140814630304780403' +
  '6159494d43007f4141410204081020004141417f04020102044040404040000307080020545478407f284444383844444428384444287f3854545418' +
  '00087e090218a4a49c787f0804047800447d40002040403d007f1028440000417f40007c047804787c080404783844444438fc18242418182424' +
  '18fc7c0804040848545454240404' +
  '3f44243c4040207c1c2040201c3c4030403c44281028444c9090907c4464544c440008364100000077000000413608000201020402';

/** Calls `dot` for every dark dot of a character; characters outside ASCII look like a question mark. */
export function drawCharacter(character: string, dot: (column: number, row: number) => void): void {
  const code = character.codePointAt(0) ?? FIRST;
  const index = (code >= FIRST && code < 0x7f ? code : 0x3f) - FIRST;
  for (let column = 0; column < COLUMNS; column++) {
    const at = (index * COLUMNS + column) * 2;
    const bits = Number.parseInt(GLYPHS.slice(at, at + 2), 16);
    for (let row = 0; row < ROWS; row++) if ((bits >> row) & 1) dot(column, row);
  }
}
