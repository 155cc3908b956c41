import { unsupportedMedia } from '../unsupported-media.error.js';

const HEADER_BYTES = 8;
const WIDE_HEADER_BYTES = 16;
const WIDE_SIZE = 1;
const TO_THE_END = 0;

/** One box of an MP4 or QuickTime file (ISO 14496-12 §4.2). It starts at `start`; its content is `bytes[at, end)`. */
export interface Mp4Box {
  readonly type: string;
  readonly start: number;
  readonly at: number;
  readonly end: number;
}

/**
 * The boxes in `bytes[from, to)`. Throws `unsupported_audio_format` when a box does not fit, because the file is cut
 * off or broken.
 */
export function* boxes(bytes: Buffer, from: number, to: number): Generator<Mp4Box> {
  for (let start = from; start + HEADER_BYTES <= to;) {
    const box = readBox(bytes, start, to);
    yield box;
    start = box.end;
  }
}

/** The first child of this type, if any. */
export function child(bytes: Buffer, parent: Mp4Box, type: string): Mp4Box | undefined {
  for (const box of boxes(bytes, parent.at, parent.end)) if (box.type === type) return box;
  return undefined;
}

/** The first child of this type. Throws `unsupported_audio_format` when there is none. */
export function requiredChild(bytes: Buffer, parent: Mp4Box, type: string): Mp4Box {
  const box = child(bytes, parent, type);
  if (box === undefined) throw unsupportedMedia('its structure is incomplete');
  return box;
}

function readBox(bytes: Buffer, start: number, to: number): Mp4Box {
  const type = bytes.toString('latin1', start + 4, start + 8);
  const narrow = bytes.readUInt32BE(start);
  const isWide = narrow === WIDE_SIZE;
  const at = start + (isWide ? WIDE_HEADER_BYTES : HEADER_BYTES);
  const size = isWide ? Number(bytes.readBigUInt64BE(start + HEADER_BYTES)) : narrow;
  const end = narrow === TO_THE_END ? to : start + size;
  if (at > end || end > to) throw unsupportedMedia('it is cut off or broken');
  return { type, start, at, end };
}
