import type { FrameHeader } from '../frame-walk.js';

const HEADER_BYTES = 4;
const RATES_HZ = [44_100, 48_000, 32_000];
const BYTES_PER_KBIT = 125;
const KBPS_1_LAYER_1 = [0, 32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448];
const KBPS_1_LAYER_2 = [0, 32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384];
const KBPS_1_LAYER_3 = [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320];
const KBPS_2_LAYER_1 = [0, 32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256];
const KBPS_2_LAYER_2 = [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160];

interface Layer {
  readonly kbps: readonly number[];
  readonly samples: number;
  /** The size of a frame is a multiple of this (the slot of the MPEG standard). */
  readonly slotBytes: number;
}
interface Version {
  readonly rateDivisor: number;
  /** Layers I, II, III. */
  readonly layers: readonly Layer[];
}

const MPEG_2_LAYERS: readonly Layer[] = [
  { kbps: KBPS_2_LAYER_1, samples: 384, slotBytes: 4 },
  { kbps: KBPS_2_LAYER_2, samples: 1152, slotBytes: 1 },
  { kbps: KBPS_2_LAYER_2, samples: 576, slotBytes: 1 },
];
/** By the version bits of the header: MPEG 2.5, none, MPEG 2, MPEG 1. */
const VERSIONS: readonly (Version | undefined)[] = [
  { rateDivisor: 4, layers: MPEG_2_LAYERS },
  undefined,
  { rateDivisor: 2, layers: MPEG_2_LAYERS },
  {
    rateDivisor: 1,
    layers: [
      { kbps: KBPS_1_LAYER_1, samples: 384, slotBytes: 4 },
      { kbps: KBPS_1_LAYER_2, samples: 1152, slotBytes: 1 },
      { kbps: KBPS_1_LAYER_3, samples: 1152, slotBytes: 1 },
    ],
  },
];

/**
 * Reads an MPEG audio frame header of any version and layer. Free-format frames are not accepted, because few decoders
 * play them.
 */
export function readMpegFrame(bytes: Buffer, at: number): FrameHeader | undefined {
  if (at + HEADER_BYTES > bytes.length || bytes[at] !== 0xff) return undefined;
  const second = bytes.readUInt8(at + 1);
  const third = bytes.readUInt8(at + 2);
  const version = VERSIONS[(second >> 3) & 3];
  const layer = version?.layers[3 - ((second >> 1) & 3)];
  const baseRateHz = RATES_HZ[(third >> 2) & 3];
  const kbps = layer?.kbps[third >> 4] ?? 0;
  if (second < 0xe0 || !version || !layer || !baseRateHz || kbps === 0) return undefined;
  const rateHz = baseRateHz / version.rateDivisor;
  const { samples, slotBytes } = layer;
  const padding = (third >> 1) & 1;
  const slots = Math.floor((samples * kbps * BYTES_PER_KBIT) / (rateHz * slotBytes)) + padding;
  const kind = (second & 0x1e) | ((third & 0x0c) << 8);
  return { bytes: slots * slotBytes, samples, rateHz, kind };
}

/** Whether the frame header at `at` is of layer III, which is MP3. */
export function isLayer3(bytes: Buffer, at: number): boolean {
  return ((bytes[at + 1] ?? 0) & 0x06) === 0x02;
}

/** Whether the frame at `at` is an information frame of an encoder (Xing, Info, VBRI), which no decoder plays. */
export function isInformationFrame(bytes: Buffer, at: number, frameBytes: number): boolean {
  const text = bytes.toString('latin1', at + HEADER_BYTES, at + Math.min(frameBytes, 48));
  return /^\0{9,32}(?:Xing|Info|VBRI)/.test(text);
}
