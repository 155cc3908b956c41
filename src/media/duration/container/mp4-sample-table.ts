import { unsupportedMedia } from '../unsupported-media.error.js';
import { child, type Mp4Box, requiredChild } from './mp4-box.js';
import type { Mp4Track } from './mp4-track.js';

const COUNT_AT = 4;
const TABLE_AT = 8;
const SIZES_TABLE_AT = 12;
const CHUNK_RUN_BYTES = 12;
const TIME_RUN_BYTES = 8;

/**
 * Passes the content of the tables in the `stbl` box to its track: offset and size of every packet, and the declared
 * ticks. Throws `unsupported_audio_format` if the tables contradict each other or point outside the file.
 */
export function readSampleTable(bytes: Buffer, track: Mp4Track): void {
  const times = requiredChild(bytes, track.sampleTable, 'stts');
  const timeRuns = bytes.readUInt32BE(times.at + COUNT_AT);
  for (let run = 0; run < timeRuns; run += 1) {
    const at = times.at + TABLE_AT + run * TIME_RUN_BYTES;
    track.addTicks(bytes.readUInt32BE(at) * bytes.readUInt32BE(at + 4));
  }
  if (track.kind === 'audio') readChunks(bytes, track);
}

function readChunks(bytes: Buffer, track: Mp4Track): void {
  const sizes = new SampleSizes(bytes, track.sampleTable);
  const frameBytes = track.coding?.frameBytes;
  let sample = 0;
  for (const chunk of chunks(bytes, track.sampleTable)) {
    if (frameBytes !== undefined) {
      // Decoders play all plain samples in the chunks, whatever the size table declares.
      track.addPacket(chunk.at, chunk.at + chunk.samples * frameBytes);
      sample += chunk.samples;
      continue;
    }
    const last = Math.min(sample + chunk.samples, sizes.count);
    for (let at = chunk.at; sample < last; sample += 1) {
      const end = at + sizes.of(sample);
      track.addPacket(at, end);
      at = end;
    }
  }
  const isWhole = frameBytes === undefined ? sample >= sizes.count : sample === sizes.count;
  if (!isWhole) throw unsupportedMedia('its tables disagree');
}

class SampleSizes {
  readonly count: number;
  private readonly common: number;
  private readonly tableAt: number;

  constructor(
    private readonly bytes: Buffer,
    sampleTable: Mp4Box,
  ) {
    const { at } = requiredChild(bytes, sampleTable, 'stsz');
    this.common = bytes.readUInt32BE(at + COUNT_AT);
    this.count = bytes.readUInt32BE(at + COUNT_AT + 4);
    this.tableAt = at + SIZES_TABLE_AT;
  }

  of(sample: number): number {
    return this.common === 0 ? this.bytes.readUInt32BE(this.tableAt + sample * 4) : this.common;
  }
}

/** The start of each chunk and its number of samples: `stco` or `co64` with the runs of `stsc`. */
function* chunks(bytes: Buffer, sampleTable: Mp4Box): Generator<{ at: number; samples: number }> {
  const narrow = child(bytes, sampleTable, 'stco');
  const offsets = narrow ?? requiredChild(bytes, sampleTable, 'co64');
  const count = bytes.readUInt32BE(offsets.at + COUNT_AT);
  const runs = requiredChild(bytes, sampleTable, 'stsc');
  const runCount = bytes.readUInt32BE(runs.at + COUNT_AT);
  const runAt = (run: number): number => runs.at + TABLE_AT + run * CHUNK_RUN_BYTES;
  const firstChunkOf = (run: number): number =>
    run < runCount ? bytes.readUInt32BE(runAt(run)) - 1 : Infinity;
  if (runCount === 0) return;

  let run = 0;
  for (let chunk = 0; chunk < count; chunk += 1) {
    while (firstChunkOf(run + 1) <= chunk) run += 1;
    const at =
      narrow === undefined
        ? Number(bytes.readBigUInt64BE(offsets.at + TABLE_AT + chunk * 8))
        : bytes.readUInt32BE(offsets.at + TABLE_AT + chunk * 4);
    yield { at, samples: bytes.readUInt32BE(runAt(run) + 4) };
  }
}
