import { unsupportedMedia } from '../unsupported-media.error.js';
import { boxes, child, type Mp4Box, requiredChild } from './mp4-box.js';
import type { Mp4Track } from './mp4-track.js';

const FLAGS_MASK = 0xffffff;
const BASE_OFFSET = 0x1;
const DESCRIPTION_INDEX = 0x2;
const DEFAULT_TICKS = 0x8;
const DEFAULT_SIZE = 0x10;
const BASE_IS_FRAGMENT = 0x20000;
const RUN_OFFSET = 0x1;
const RUN_FIRST_FLAGS = 0x4;
const RUN_TICKS = 0x100;
const RUN_SIZES = 0x200;
const RUN_FLAGS = 0x400;
const RUN_COMPOSITION = 0x800;

/** Values that a track's fragments may leave out: ticks and size of a packet. */
export interface FragmentDefaults {
  readonly ticks: number;
  readonly size: number;
}

/** The defaults of every track by its id, from the `trex` boxes of `moov`. */
export function readFragmentDefaults(bytes: Buffer, moov: Mp4Box): Map<number, FragmentDefaults> {
  const defaults = new Map<number, FragmentDefaults>();
  const extends_ = child(bytes, moov, 'mvex');
  if (extends_ === undefined) return defaults;
  for (const { type, at } of boxes(bytes, extends_.at, extends_.end)) {
    if (type !== 'trex') continue;
    const ticks = bytes.readUInt32BE(at + 12);
    defaults.set(bytes.readUInt32BE(at + 4), { ticks, size: bytes.readUInt32BE(at + 16) });
  }
  return defaults;
}

/**
 * Passes the packets of one movie fragment to the tracks. Throws `unsupported_audio_format` when they are outside the
 * file.
 */
export function readFragment(
  bytes: Buffer,
  moof: Mp4Box,
  tracks: ReadonlyMap<number, Mp4Track>,
  defaults: ReadonlyMap<number, FragmentDefaults>,
): void {
  let dataEnd = moof.start;
  for (const traf of boxes(bytes, moof.at, moof.end)) {
    if (traf.type !== 'traf') continue;
    const header = readHeader(bytes, traf, moof, dataEnd);
    const track = tracks.get(header.trackId);
    if (track === undefined) throw unsupportedMedia('a fragment belongs to no track');
    const own = defaults.get(header.trackId);
    const sample = { ticks: header.ticks ?? own?.ticks ?? 0, size: header.size ?? own?.size ?? 0 };
    let at = header.base;
    for (const run of boxes(bytes, traf.at, traf.end)) {
      if (run.type === 'trun') at = readRun(bytes, run, { track, base: header.base, at, sample });
    }
    dataEnd = at;
  }
}

interface FragmentHeader {
  readonly trackId: number;
  readonly base: number;
  readonly ticks: number | undefined;
  readonly size: number | undefined;
}

function readHeader(bytes: Buffer, traf: Mp4Box, moof: Mp4Box, dataEnd: number): FragmentHeader {
  const { at } = requiredChild(bytes, traf, 'tfhd');
  const flags = bytes.readUInt32BE(at) & FLAGS_MASK;
  let cursor = at + 8;
  const field = (): number => bytes.readUInt32BE((cursor += 4) - 4);
  let base = (flags & BASE_IS_FRAGMENT) === 0 ? dataEnd : moof.start;
  if ((flags & BASE_OFFSET) !== 0) base = field() * 2 ** 32 + field();
  if ((flags & DESCRIPTION_INDEX) !== 0) field();
  const ticks = (flags & DEFAULT_TICKS) === 0 ? undefined : field();
  const size = (flags & DEFAULT_SIZE) === 0 ? undefined : field();
  return { trackId: bytes.readUInt32BE(at + 4), base, ticks, size };
}

/** Returns the end of the run's data, where the next run begins unless it declares another offset. */
function readRun(
  bytes: Buffer,
  run: Mp4Box,
  state: { track: Mp4Track; base: number; at: number; sample: FragmentDefaults },
): number {
  const flags = bytes.readUInt32BE(run.at) & FLAGS_MASK;
  const count = bytes.readUInt32BE(run.at + 4);
  let cursor = run.at + 8;
  let { at } = state;
  if ((flags & RUN_OFFSET) !== 0) {
    at = state.base + bytes.readInt32BE(cursor);
    cursor += 4;
  }
  if ((flags & RUN_FIRST_FLAGS) !== 0) cursor += 4;
  const has = (flag: number): number => ((flags & flag) === 0 ? 0 : 4);
  const ticksBytes = has(RUN_TICKS);
  const sizeBytes = has(RUN_SIZES);
  const entryBytes = ticksBytes + sizeBytes + has(RUN_FLAGS) + has(RUN_COMPOSITION);
  for (let index = 0; index < count; index += 1) {
    const entry = cursor + index * entryBytes;
    const end = at + (sizeBytes === 0 ? state.sample.size : bytes.readUInt32BE(entry + ticksBytes));
    state.track.addPacket(at, end);
    state.track.addTicks(ticksBytes === 0 ? state.sample.ticks : bytes.readUInt32BE(entry));
    at = end;
  }
  return at;
}
