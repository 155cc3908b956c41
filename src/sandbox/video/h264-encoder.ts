/** Side of a macroblock in luma samples. */
export const MACROBLOCK = 16;
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
/** The type of a macroblock that is sent as its samples (`I_PCM`), for each kind of slice. */
const RAW_SAMPLES = { inter: 30, intra: 25 } as const;

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

/** Whether a picture of this size is within the level. 1920 x 1080 is, in portrait format too. */
export function isDrawable(width: number, height: number): boolean {
  const columns = Math.ceil(width / MACROBLOCK);
  const rows = Math.ceil(height / MACROBLOCK);
  return columns <= MAX_SIDE && rows <= MAX_SIDE && columns * rows <= MAX_MACROBLOCKS;
}

/**
 * Writes frames without compression (ITU-T H.264; Annex B byte stream): a macroblock is sent as its samples, or is
 * that of the frame before.
 */
export class H264Encoder {
  private frames = 0;

  constructor(private readonly picture: Planes) {}

  /** The first frame, with everything that a decoder needs to start. */
  keyFrame(): Buffer {
    const slice = this.startSlice('intra');
    const { columns, rows } = this.picture;
    for (let at = 0; at < columns * rows; at += 1) this.sendSamples(slice, at, 'intra');
    return Buffer.concat([this.sequence(), pictureSettings(), slice.toNalUnit(NAL.keyFrame)]);
  }

  /** The next frame: these macroblocks (`end` is not among them) are drawn anew, all others stay. */
  nextFrame(first: number, end: number): Buffer {
    const slice = this.startSlice('inter');
    const { columns, rows } = this.picture;
    let skipped = first;
    for (let at = first; at < end; at += 1) {
      slice.unsigned(skipped);
      this.sendSamples(slice, at, 'inter');
      skipped = 0;
    }
    skipped += columns * rows - Math.max(first, end);
    if (skipped > 0) slice.unsigned(skipped);
    return slice.toNalUnit(NAL.frame);
  }

  private startSlice(kind: 'intra' | 'inter'): BitWriter {
    const slice = new BitWriter();
    slice.unsigned(0); // first_mb_in_slice
    slice.unsigned(SLICE[kind]);
    slice.unsigned(0); // pic_parameter_set_id
    slice.bits(this.frames, FRAME_NUMBER_BITS);
    if (kind === 'intra') {
      slice.unsigned(0); // idr_pic_id
      slice.bits(0b00, 2); // no_output_of_prior_pics_flag, long_term_reference_flag
    } else slice.bits(0b000, 3); // no override, no reordering, no adaptive marking
    slice.unsigned(0); // slice_qp_delta
    slice.unsigned(1); // disable_deblocking_filter_idc: samples stay as they are
    this.frames += 1;
    return slice;
  }

  private sendSamples(slice: BitWriter, at: number, kind: keyof typeof RAW_SAMPLES): void {
    const { columns, planes } = this.picture;
    slice.unsigned(RAW_SAMPLES[kind]);
    for (const { width, block, samples } of planes) {
      const first = Math.floor(at / columns) * block * width + (at % columns) * block;
      const sent = new Uint8Array(block * block);
      for (let y = 0; y < block; y += 1) {
        const row = first + y * width;
        sent.set(samples.subarray(row, row + block), y * block);
      }
      slice.bytes(sent);
    }
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
  for (let i = 0; i < 3; i += 1) writer.unsigned(0); // quantisers, which are not used
  writer.bits(0b100, 3); // deblocking_filter_control_present_flag
  return writer.toNalUnit(NAL.picture);
}

/** The content of one NAL unit (ITU-T H.264, 7.2 and 9.1). */
class BitWriter {
  private readonly chunks: Uint8Array[] = [];
  /** Bits that are no whole byte yet, as digits. */
  private pending = '';

  /** The low `count` bits of a value. */
  bits(value: number, count: number): void {
    this.pending += value.toString(2).padStart(count, '0');
  }

  /** An unsigned Exp-Golomb code, `ue(v)`. The signed code of zero, `se(v)`, is the same. */
  unsigned(value: number): void {
    const code = (value + 1).toString(2);
    this.pending += code.padStart(2 * code.length - 1, '0');
  }

  /** Whole bytes, after zeros up to the next whole byte. */
  bytes(bytes: Uint8Array): void {
    this.align();
    this.chunks.push(bytes);
  }

  /** The NAL unit: a start code, then the content with a stop bit at its end and without any start code inside. */
  toNalUnit(header: number): Buffer {
    this.bits(1, 1);
    this.align();
    // A byte 3 parts two zeros from a byte of at most 3.
    const content = Buffer.concat(this.chunks)
      .toString('latin1')
      // eslint-disable-next-line no-control-regex -- these are bytes
      .replace(/\0\0(?=[\0-\x03])/g, '\0\0\x03');
    return Buffer.concat([Buffer.from([0, 0, 0, 1, header]), Buffer.from(content, 'latin1')]);
  }

  private align(): void {
    const octets = this.pending.match(/.{1,8}/g) ?? [];
    this.pending = '';
    if (octets.length === 0) return;
    this.chunks.push(Uint8Array.from(octets, (bits) => Number.parseInt(bits.padEnd(8, '0'), 2)));
  }
}
