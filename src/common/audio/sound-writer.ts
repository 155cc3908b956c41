/** Looked up once, because they are called for every sample. */
const { max, min, round } = Math;

/** How audio is written: codec, samples per second and, for lossy codecs, kilobits per second. */
export interface SoundFormat {
  readonly codec: 'mp3' | 'opus' | 'pcm' | 'wav';
  readonly sampleRate: number;
  readonly kbps: number;
}

/** Writes one file of one codec, piece by piece. */
export interface SoundWriter {
  encode(samples: Float32Array): Uint8Array | Promise<Uint8Array>;
  finish(): Uint8Array | Promise<Uint8Array>;
  /** Frees what the codec holds. To be called after an unfinished file too. */
  release(): void;
}

/** What a writer has to know before the first byte. */
export interface AudioFileFacts {
  readonly format: SoundFormat;
  /** Samples per second of what is encoded, where they are not those of the file. MP3 only. */
  readonly inputRate?: number | undefined;
  readonly totalSamples: number;
  /** Free text for the tag of the file (ID3, RIFF LIST, Vorbis comment). Raw PCM has no tag. */
  readonly comment: string;
}

/** Samples as the 16-bit little-endian integers of WAV, PCM and the Opus encoder. */
export function toInt16(samples: Float32Array): Int16Array {
  const integers = new Int16Array(samples.length);
  for (let i = 0; i < samples.length; i++) {
    const sample = samples[i] ?? 0;
    integers[i] = round(max(-1, min(1, sample)) * 32767);
  }
  return integers;
}
