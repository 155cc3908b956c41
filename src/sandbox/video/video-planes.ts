import type { Pixels } from '../media/pictures/png-image.js';

/** Side of a macroblock in luma samples. */
export const MACROBLOCK = 16;

/** One plane of samples. */
export interface Plane {
  readonly width: number;
  readonly samples: Uint8Array;
  /** Side of a macroblock in samples of this plane. */
  readonly block: number;
}

/** A picture as H.264 takes it: whole macroblocks of brightness (Y) and colour (Cb, Cr). */
export interface Planes {
  /** Size of the visible picture. The planes are larger, because they consist of whole macroblocks. */
  readonly width: number;
  readonly height: number;
  readonly columns: number;
  readonly rows: number;
  /** Y, Cb and Cr. */
  readonly planes: readonly [Plane, Plane, Plane];
  /**
   * Colour at half the resolution (4:2:0). A frame whose size is odd can only be cropped at full resolution (4:4:4).
   */
  readonly isHalfColour: boolean;
}

type Mix = readonly [offset: number, red: number, green: number, blue: number];
/** ITU-R BT.601, limited range. */
const Y: Mix = [16, 0.257, 0.504, 0.098];
const CB: Mix = [128, -0.148, -0.291, 0.439];
const CR: Mix = [128, 0.439, -0.368, -0.071];

/** The planes of a picture. Its last row and column are repeated to the end of the macroblock. */
export function planesOf(picture: Pixels): Planes {
  const { width, height } = picture;
  const columns = Math.ceil(width / MACROBLOCK);
  const rows = Math.ceil(height / MACROBLOCK);
  const isHalfColour = width % 2 === 0 && height % 2 === 0;
  const plane = (mix: Mix, step: number): Plane => {
    const block = MACROBLOCK / step;
    const samples = new Uint8Array(columns * block * rows * block);
    return fill({ width: columns * block, samples, block }, picture, mix, step);
  };
  const step = isHalfColour ? 2 : 1;
  const planes = [plane(Y, 1), plane(CB, step), plane(CR, step)] as const;
  return { width, height, columns, rows, planes, isHalfColour };
}

function fill(plane: Plane, { width, height, data }: Pixels, mix: Mix, step: number): Plane {
  const { samples, width: stride } = plane;
  const [offset, red, green, blue] = mix;
  for (let at = 0; at < samples.length; at += 1) {
    const x = Math.min((at % stride) * step, width - 1);
    const y = Math.min(Math.floor(at / stride) * step, height - 1);
    const from = (y * width + x) * 3;
    const [r = 0, g = 0, b = 0] = [data[from], data[from + 1], data[from + 2]];
    samples[at] = Math.round(offset + red * r + green * g + blue * b);
  }
  return plane;
}
