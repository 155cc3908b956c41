import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';

import { measureBytes } from '../../src/media/length/media-length.js';
import { measureMediaLength } from '../../src/media/length/length-pool.js';
import { sample } from './byte-edits.js';
import { flacFile } from './flac-file.js';
import { muxedOpus } from './muxed-file.js';
import { opusPages, writePages } from './ogg-file.js';
import { wavFile } from './wav-file.js';

const FILE_BYTES = 50_000_000;
const PARALLEL = 64;
const NANOS_PER_MS = 1_000_000;
/** The most frames whose numbers the generator writes. */
const FLAC_SAMPLES = 4_096 * 55_000;
const OPUS_SAMPLES = 960 * 1_000_000;

const repeated = (name: string): Buffer => {
  const bytes = sample(name);
  return Buffer.concat(new Array<Buffer>(Math.floor(FILE_BYTES / bytes.length)).fill(bytes));
};

/**
 * How long each format takes, and how late the main thread is while 64 files of 50 MB are measured. Run after a build:
 * `node --import @swc-node/register/esm-register test/media/speed.ts`
 */
async function main(): Promise<void> {
  const files = {
    wav: wavFile(FILE_BYTES / 2, 48_000),
    mp3: repeated('tone.mp3'),
    aac: repeated('tone.aac'),
    flac: repeated('tone.flac'),
    'flac of silence': flacFile(FLAC_SAMPLES),
    'ogg of silence': writePages(opusPages(OPUS_SAMPLES)),
    'webm of silence': await muxedOpus('webm', OPUS_SAMPLES / 10),
    'mp4 of silence': await muxedOpus('mp4', OPUS_SAMPLES / 10),
  };
  for (const [name, bytes] of Object.entries(files)) {
    const begin = performance.now();
    measureBytes(bytes);
    report(`${name}: ${(bytes.length / 1_000_000).toFixed(1)} MB in ${since(begin)} ms`);
  }

  const folder = await mkdtemp(join(tmpdir(), 'media-speed-'));
  const paths = await Promise.all(
    ['mp3', 'aac', 'flac', 'wav'].map(async (name) => {
      const path = join(folder, name);
      await writeFile(path, files[name as 'mp3']);
      return path;
    }),
  );
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  const begin = performance.now();
  await Promise.all(
    Array.from({ length: PARALLEL }, (_, index) => measureMediaLength(paths[index % 4] ?? '')),
  );
  delay.disable();
  const p99 = (delay.percentile(99) / NANOS_PER_MS).toFixed(1);
  const most = (delay.max / NANOS_PER_MS).toFixed(1);
  report(`${PARALLEL} files at once: ${since(begin)} ms, main loop p99 ${p99} ms, max ${most} ms`);
  report(`resident: ${(process.memoryUsage().rss / 1_000_000).toFixed(0)} MB`);
  await rm(folder, { recursive: true });
}

const since = (begin: number): string => (performance.now() - begin).toFixed(0);
const report = (line: string): void => {
  process.stdout.write(`${line}\n`);
};

await main();
