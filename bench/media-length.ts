import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { measureBytes } from '../src/media/duration/media-duration.js';
import { measureMediaDuration } from '../src/media/duration/duration-pool.js';
import { sample } from '../test/media/byte-edits.js';
import { flacFile } from '../test/media/flac-file.js';
import { muxedOpus } from '../test/media/muxed-file.js';
import { opusPages, writePages } from '../test/media/ogg-file.js';
import { wavFile } from '../test/media/wav-file.js';
import { type BenchResult, round } from './result.js';

const FILE_BYTES = 50_000_000;
const PARALLEL = 64;
const NANOS_PER_MS = 1_000_000;
/** The most frames whose numbers the generator writes. */
const FLAC_SAMPLES = 4_096 * 55_000;
const OPUS_SAMPLES = 960 * 1_000_000;
const FORMAT_TARGET_MS = 1_000;
const LOOP_TARGET_MS = 50;

const repeated = (name: string): Buffer => {
  const bytes = sample(name);
  return Buffer.concat(new Array<Buffer>(Math.floor(FILE_BYTES / bytes.length)).fill(bytes));
};

/** How long measuring takes per format, and how late the main thread is while 64 files of 50 MB are measured. */
export async function run(): Promise<BenchResult> {
  const files: Record<string, Buffer> = {
    wav: wavFile(FILE_BYTES / 2, 48_000),
    mp3: repeated('tone.mp3'),
    aac: repeated('tone.aac'),
    flac: repeated('tone.flac'),
    'flac of silence': flacFile(FLAC_SAMPLES),
    'ogg of silence': writePages(opusPages(OPUS_SAMPLES)),
    'webm of silence': await muxedOpus('webm', OPUS_SAMPLES / 10),
    'mp4 of silence': await muxedOpus('mp4', OPUS_SAMPLES / 10),
  };
  const times = Object.entries(files).map(([name, bytes]) => {
    const begin = performance.now();
    measureBytes(bytes);
    return [
      `${name}, ${round(bytes.length / 1e6, 1)} MB, ms`,
      round(performance.now() - begin, 0),
    ] as const;
  });
  const { totalMs, p99Ms } = await together(files);
  const slowestMs = Math.max(...times.map(([, ms]) => ms));
  return {
    name: 'media length',
    figures: {
      ...Object.fromEntries(times),
      'slowest ms': slowestMs,
      [`${PARALLEL} files at once, ms`]: round(totalMs, 0),
      'main loop p99 ms meanwhile': round(p99Ms, 1),
    },
    targets: {
      'slowest ms': `≤ ${FORMAT_TARGET_MS}`,
      'main loop p99 ms meanwhile': `≤ ${LOOP_TARGET_MS}`,
    },
    passed: slowestMs <= FORMAT_TARGET_MS && p99Ms <= LOOP_TARGET_MS,
  };
}

async function together(
  files: Readonly<Record<string, Buffer>>,
): Promise<{ totalMs: number; p99Ms: number }> {
  const folder = await mkdtemp(join(tmpdir(), 'media-length-'));
  try {
    const names = ['mp3', 'aac', 'flac', 'wav'];
    const paths = names.map((name) => join(folder, name));
    for (const [index, path] of paths.entries())
      await writeFile(path, files[names[index] ?? ''] ?? '');
    const delay = monitorEventLoopDelay({ resolution: 1 });
    delay.enable();
    const begin = performance.now();
    await Promise.all(
      Array.from({ length: PARALLEL }, (_, index) =>
        measureMediaDuration(paths[index % paths.length] ?? '', `account ${index % 2}`),
      ),
    );
    delay.disable();
    return { totalMs: performance.now() - begin, p99Ms: delay.percentile(99) / NANOS_PER_MS };
  } finally {
    await rm(folder, { recursive: true });
  }
}
