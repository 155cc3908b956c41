import { execFileSync } from 'node:child_process';
import { systemProgram } from './system-program.js';

const MAX_OUTPUT_BYTES = 256 * 1024 * 1024;

/** Paths of the media programs of the system; undefined where they are not installed. */
export const ffprobePath = systemProgram('ffprobe');
export const ffmpegPath = systemProgram('ffmpeg');

/** One track of a media file as `ffprobe` counts it. */
export interface ProbedTrack {
  readonly codec_type: string;
  readonly codec_name: string;
  readonly nb_read_frames: string;
  readonly duration: string;
  readonly width?: number;
  readonly height?: number;
}

/** The tracks of a file, every frame read; undefined without `ffprobe`. Throws where it finds an error. */
export function probeTracks(file: Uint8Array): readonly ProbedTrack[] | undefined {
  if (ffprobePath === undefined) return undefined;
  const asked = ['-v', 'error', '-count_frames', '-show_streams', '-of', 'json', '-'];
  const told = execFileSync(ffprobePath, asked, { input: file, maxBuffer: MAX_OUTPUT_BYTES });
  return (JSON.parse(told.toString()) as { streams: ProbedTrack[] }).streams;
}

/** The samples of a file's sound, mono from -1 to 1; undefined without `ffmpeg`. Throws where it cannot be decoded. */
export function decodeSamples(file: Uint8Array, sampleRate: number): Float32Array | undefined {
  if (ffmpegPath === undefined) return undefined;
  const read = ['-v', 'error', '-xerror', '-i', 'pipe:0'];
  const write = ['-f', 'f32le', '-ac', '1', '-ar', String(sampleRate), 'pipe:1'];
  const bytes = execFileSync(ffmpegPath, [...read, ...write], {
    input: file,
    maxBuffer: MAX_OUTPUT_BYTES,
  });
  return new Float32Array(new Uint8Array(bytes).buffer);
}
