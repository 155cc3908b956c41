import { sniffFormat } from '../sniff.js';
import { unsupportedMedia } from '../unsupported-media.error.js';

const CHUNK_HEADER_BYTES = 8;
const PRINTABLE_ID = /^[ -~]{4}$/;

/** One chunk of a WAV or AIFF file. `at` and `size` are the declared offset and size of its content. */
export interface Chunk {
  readonly id: string;
  readonly at: number;
  readonly size: number;
}

/** Reads the chunk header at `at`; undefined if no header fits. The declared size is not checked. */
export function readChunk(bytes: Buffer, at: number, order: 'LE' | 'BE'): Chunk | undefined {
  if (at + CHUNK_HEADER_BYTES > bytes.length) return undefined;
  const size = order === 'LE' ? bytes.readUInt32LE(at + 4) : bytes.readUInt32BE(at + 4);
  return { id: bytes.toString('latin1', at, at + 4), at: at + CHUNK_HEADER_BYTES, size };
}

/** The start of the next chunk. Chunks are padded to even lengths. */
export function afterChunk(chunk: Chunk): number {
  return chunk.at + chunk.size + (chunk.size & 1);
}

/**
 * Bytes of audio in the audio chunk. The declared size counts if only other chunks follow; otherwise everything to the
 * end of the file counts (the header was written before the end was known, or is wrong). Throws
 * `unsupported_audio_format` when more audio follows.
 */
export function audioBytes(bytes: Buffer, audio: Chunk, order: 'LE' | 'BE'): number {
  const available = Math.max(bytes.length - audio.at, 0);
  if (audio.size >= available) return available;
  return onlyChunksFollow(bytes, audio, order) ? audio.size : available;
}

function onlyChunksFollow(bytes: Buffer, audio: Chunk, order: 'LE' | 'BE'): boolean {
  if (audio.size > 0 && sniffFormat(bytes.subarray(audio.at + audio.size)) !== undefined) {
    throw unsupportedMedia('another file follows');
  }
  for (let at = afterChunk(audio); at < bytes.length;) {
    const chunk = readChunk(bytes, at, order);
    if (chunk === undefined) return true;
    if (!PRINTABLE_ID.test(chunk.id) || chunk.at + chunk.size > bytes.length) return false;
    if (chunk.id === audio.id || sniffFormat(bytes.subarray(at)) !== undefined) {
      throw unsupportedMedia('more audio follows');
    }
    at = afterChunk(chunk);
  }
  return true;
}
