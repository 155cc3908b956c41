import { createMp3Encoder, type WasmMediaEncoder } from 'wasm-media-encoders';
import type { AudioFileFacts, SoundWriter } from './sound-writer.js';

type Mp3Encoder = WasmMediaEncoder<'audio/mpeg'>;
type Mp3Settings = Parameters<Mp3Encoder['configure']>[0];

/** Idle encoders, kept for the next file: creating one takes about 10 ms. */
const MAX_IDLE_ENCODERS = 16;
const idle: Mp3Encoder[] = [];

/** Writes mono MP3 at a constant bit rate, after an ID3v2.4 tag with the comment. */
export async function createMp3Writer({
  format,
  inputRate = format.sampleRate,
  comment,
}: AudioFileFacts): Promise<SoundWriter> {
  const encoder = idle.pop() ?? (await createMp3Encoder());
  encoder.configure({
    channels: 1,
    sampleRate: inputRate,
    outputSampleRate: format.sampleRate,
    bitrate: format.kbps,
  } as Mp3Settings);
  let head: Buffer | undefined = comment === '' ? undefined : id3Tag(comment);
  return {
    encode(samples) {
      // The encoder uses its output buffer again, so every piece is copied.
      const frames = Buffer.from(encoder.encode([samples]));
      const bytes = head === undefined ? frames : Buffer.concat([head, frames]);
      head = undefined;
      return bytes;
    },
    finish: () => Buffer.from(encoder.finalize()),
    release: () => {
      if (idle.length < MAX_IDLE_ENCODERS) idle.push(encoder);
    },
  };
}

/** ID3v2.4 with one COMM frame: UTF-8, language `eng`, no description. */
function id3Tag(comment: string): Buffer {
  const text = Buffer.concat([
    Buffer.from([3]),
    Buffer.from('eng\0', 'latin1'),
    Buffer.from(comment, 'utf8'),
  ]);
  return Buffer.concat([
    Buffer.from([0x49, 0x44, 0x33, 4, 0, 0]),
    syncSafe(text.length + 10),
    Buffer.from('COMM', 'latin1'),
    syncSafe(text.length),
    Buffer.alloc(2),
    text,
  ]);
}

function syncSafe(size: number): Buffer {
  return Buffer.from([21, 14, 7, 0].map((shift) => (size >>> shift) & 0x7f));
}
