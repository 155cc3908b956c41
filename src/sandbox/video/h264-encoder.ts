import { BitWriter } from './bit-writer.js';
import { MACROBLOCK, type Plane, type Planes } from './video-planes.js';

/**
 * Largest frame of level 4.0 at 24 frames per second, and its longest side, in macroblocks (ITU-T H.264, table A-1).
 */
const MAX_MACROBLOCKS = 8160;
const MAX_SIDE = 255;
const LEVEL = 40;
const BASELINE = 66;
const HIGH_444 = 244;
const CONSTRAINED = 0xc0;
const FRAME_NUMBER_BITS = 16;
const NAL = { sequence: 0x67, picture: 0x68, keyFrame: 0x65, frame: 0x41 } as const;
const SLICE = { inter: 5, intra: 7 } as const;
/** The number at which the types of intra macroblocks begin, for each kind of frame. */
const INTRA_TYPES = { inter: 5, intra: 0 } as const;
const COPIED = { vertical: 1, horizontal: 2 } as const;
const RAW = 25;
/** How the colour of a macroblock is predicted, given how its brightness is. */
const COLOUR_MODE = { vertical: 2, horizontal: 1 } as const;

/** Whether a picture of this size is within the level. 1920 x 1080 is, in portrait format too. */
export function isDrawable(width: number, height: number): boolean {
  const columns = Math.ceil(width / MACROBLOCK);
  const rows = Math.ceil(height / MACROBLOCK);
  return columns <= MAX_SIDE && rows <= MAX_SIDE && columns * rows <= MAX_MACROBLOCKS;
}

type Direction = keyof typeof COPIED;
type Known = 'skipped' | 'copied' | 'raw';

/**
 * A lossless H.264 encoder for drawn pictures (ITU-T H.264; Annex B byte stream). A macroblock that repeats the edge of
 * its left or upper neighbour costs a few bits; any other costs its samples. A frame contains only what has changed
 * since the frame before. Files are small when most of the picture is flat, as all pictures of the sandbox are.
 */
export class H264Encoder {
  private readonly sent: readonly Uint8Array[];
  private frames = 0;

  constructor(private readonly picture: Planes) {
    this.sent = picture.planes.map(({ samples }) => Uint8Array.from(samples));
  }

  /** The first frame, with everything that a decoder needs to start. */
  keyFrame(): Buffer {
    const writer = this.startSlice('intra');
    const known: Known[] = [];
    const { columns, rows } = this.picture;
    for (let at = 0; at < columns * rows; at += 1) {
      this.macroblock(writer, known, at, 'intra');
    }
    return Buffer.concat([this.sequence(), pictureSettings(), writer.toNalUnit(NAL.keyFrame)]);
  }

  /** The next frame: what was drawn since the frame before, within these rows of macroblocks. */
  nextFrame(firstRow: number, lastRow: number): Buffer {
    const writer = this.startSlice('inter');
    const { columns, rows } = this.picture;
    const known = new Array<Known>(columns * rows).fill('skipped');
    let skipped = firstRow * columns;
    for (let at = skipped; at < (lastRow + 1) * columns; at += 1) {
      if (this.takeChange(at)) {
        writer.unsigned(skipped);
        skipped = 0;
        this.macroblock(writer, known, at, 'inter');
      } else skipped += 1;
    }
    skipped += (rows - 1 - lastRow) * columns;
    if (skipped > 0) writer.unsigned(skipped);
    return writer.toNalUnit(NAL.frame);
  }

  private startSlice(kind: 'intra' | 'inter'): BitWriter {
    const writer = new BitWriter();
    writer.unsigned(0); // first_mb_in_slice
    writer.unsigned(SLICE[kind]);
    writer.unsigned(0); // pic_parameter_set_id
    writer.bits(this.frames, FRAME_NUMBER_BITS);
    if (kind === 'intra') {
      writer.unsigned(0); // idr_pic_id
      writer.bits(0b00, 2); // no_output_of_prior_pics_flag, long_term_reference_flag
    } else writer.bits(0b000, 3); // no override, no reordering, no adaptive marking
    writer.signedZero(); // slice_qp_delta
    writer.unsigned(1); // disable_deblocking_filter_idc: samples stay as they are
    this.frames += 1;
    return writer;
  }

  private macroblock(
    writer: BitWriter,
    known: Known[],
    at: number,
    kind: keyof typeof INTRA_TYPES,
  ): void {
    const direction = this.copiedFrom(at);
    known[at] = direction ? 'copied' : 'raw';
    if (!direction) {
      writer.unsigned(INTRA_TYPES[kind] + RAW);
      this.rawSamples(writer, at);
      return;
    }
    writer.unsigned(INTRA_TYPES[kind] + COPIED[direction]);
    if (this.picture.isHalfColour) writer.unsigned(COLOUR_MODE[direction]);
    writer.signedZero(); // mb_qp_delta. No coefficients follow: the code of their number depends on that of the neighbours, where raw samples count as 16.
    const isBusy = this.neighbours(at).some((neighbour) => known[neighbour] === 'raw');
    const residuals = this.picture.isHalfColour ? 1 : 3;
    for (let plane = 0; plane < residuals; plane += 1) {
      writer.bits(isBusy ? 0b000011 : 1, isBusy ? 6 : 1);
    }
  }

  /** The left and the upper macroblock, where they exist. */
  private neighbours(at: number): number[] {
    const { columns } = this.picture;
    const left = at % columns > 0 ? [at - 1] : [];
    return at >= columns ? [...left, at - columns] : left;
  }

  /** The neighbour whose samples the macroblock repeats in all planes; undefined when it repeats none. */
  private copiedFrom(at: number): Direction | undefined {
    const { columns, planes } = this.picture;
    const column = at % columns;
    const row = Math.floor(at / columns);
    const repeats = (direction: Direction) =>
      planes.every((plane) => repeatsEdge(plane, column, row, direction));
    if (column > 0 && repeats('horizontal')) return 'horizontal';
    return row > 0 && repeats('vertical') ? 'vertical' : undefined;
  }

  private rawSamples(writer: BitWriter, at: number): void {
    writer.align();
    for (const plane of this.picture.planes) {
      for (const index of samplesOf(plane, at, this.picture.columns)) {
        writer.byte(plane.samples[index] ?? 0);
      }
    }
  }

  /** Whether the macroblock differs from what the decoder has. Afterwards the decoder has it. */
  private takeChange(at: number): boolean {
    let isChanged = false;
    this.picture.planes.forEach((plane, number) => {
      const sent = this.sent[number];
      if (sent === undefined) return;
      for (const index of samplesOf(plane, at, this.picture.columns)) {
        if (sent[index] === plane.samples[index]) continue;
        sent[index] = plane.samples[index] ?? 0;
        isChanged = true;
      }
    });
    return isChanged;
  }

  /** The sequence parameter set: profile, size, and how much of the last macroblocks is cut off. */
  private sequence(): Buffer {
    const { width, height, columns, rows, isHalfColour } = this.picture;
    const writer = new BitWriter();
    writer.bits(isHalfColour ? BASELINE : HIGH_444, 8);
    writer.bits(isHalfColour ? CONSTRAINED : 0, 8);
    writer.bits(LEVEL, 8);
    writer.unsigned(0); // seq_parameter_set_id
    if (!isHalfColour) {
      writer.unsigned(3); // chroma_format_idc: 4:4:4
      writer.bits(0, 1); // separate_colour_plane_flag
      writer.unsigned(0); // bit_depth_luma_minus8
      writer.unsigned(0); // bit_depth_chroma_minus8
      writer.bits(0b00, 2); // no transform bypass, no scaling matrix
    }
    writer.unsigned(FRAME_NUMBER_BITS - 4); // log2_max_frame_num_minus4
    writer.unsigned(2); // pic_order_cnt_type: frames are shown in the order they come
    writer.unsigned(1); // max_num_ref_frames
    writer.bits(0, 1); // gaps_in_frame_num_value_allowed_flag
    writer.unsigned(columns - 1);
    writer.unsigned(rows - 1);
    writer.bits(0b11, 2); // frame_mbs_only_flag, direct_8x8_inference_flag
    const step = isHalfColour ? 2 : 1;
    writer.bits(1, 1); // frame_cropping_flag
    writer.unsigned(0);
    writer.unsigned((columns * MACROBLOCK - width) / step);
    writer.unsigned(0);
    writer.unsigned((rows * MACROBLOCK - height) / step);
    writer.bits(0, 1); // vui_parameters_present_flag
    return writer.toNalUnit(NAL.sequence);
  }
}

/** The picture parameter set: CAVLC, one slice group, one reference. */
function pictureSettings(): Buffer {
  const writer = new BitWriter();
  writer.unsigned(0); // pic_parameter_set_id
  writer.unsigned(0); // seq_parameter_set_id
  writer.bits(0b00, 2); // CAVLC, no bottom field order
  writer.unsigned(0); // num_slice_groups_minus1
  writer.unsigned(0); // num_ref_idx_l0_default_active_minus1
  writer.unsigned(0); // num_ref_idx_l1_default_active_minus1
  writer.bits(0b000, 3); // no weighted prediction
  for (let i = 0; i < 3; i += 1) writer.signedZero(); // quantisers, which are not used
  writer.bits(0b100, 3); // deblocking_filter_control_present_flag
  return writer.toNalUnit(NAL.picture);
}

function* samplesOf({ width, block }: Plane, at: number, columns: number): Generator<number> {
  const first = Math.floor(at / columns) * block * width + (at % columns) * block;
  for (let y = 0; y < block; y += 1) {
    for (let x = 0; x < block; x += 1) yield first + y * width + x;
  }
}

/** Whether the macroblock repeats the column on its left, or the row above it. */
function repeatsEdge(
  { width, block, samples }: Plane,
  column: number,
  row: number,
  direction: Direction,
): boolean {
  const first = row * block * width + column * block;
  for (let y = 0; y < block; y += 1) {
    for (let x = 0; x < block; x += 1) {
      const edge = direction === 'horizontal' ? first + y * width - 1 : first - width + x;
      if (samples[first + y * width + x] !== samples[edge]) return false;
    }
  }
  return true;
}
