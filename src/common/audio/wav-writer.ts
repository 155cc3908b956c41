import { type AudioFileFacts, type SoundWriter, toInt16 } from './sound-writer.js';

const FMT_CHUNK_BYTES = 16;
const PCM_TAG = 1;

/** Raw 16-bit little-endian mono samples without any header. */
export function createPcmWriter(): SoundWriter {
  return {
    encode: (samples) => int16Bytes(samples),
    finish: () => new Uint8Array(),
    release: () => undefined,
  };
}

/**
 * Writes 16-bit mono WAV. The comment is in a LIST chunk before the samples. All sizes in the header are final when it
 * is written.
 */
export function createWavWriter({ format, totalSamples, comment }: AudioFileFacts): SoundWriter {
  let head: Buffer | undefined = wavHead(format.sampleRate, totalSamples * 2, comment);
  return {
    encode(samples) {
      const bytes =
        head === undefined ? int16Bytes(samples) : Buffer.concat([head, int16Bytes(samples)]);
      head = undefined;
      return bytes;
    },
    finish: () => head ?? new Uint8Array(),
    release: () => undefined,
  };
}

function int16Bytes(samples: Float32Array): Uint8Array {
  return new Uint8Array(toInt16(samples).buffer);
}

/** Everything before the samples of a 16-bit mono WAV of a known size. */
export function wavHead(sampleRate: number, dataBytes: number, comment = ''): Buffer {
  const list = comment === '' ? Buffer.alloc(0) : listChunk(comment);
  const fmt = Buffer.alloc(8 + FMT_CHUNK_BYTES);
  fmt.write('fmt ', 0, 'latin1');
  fmt.writeUInt32LE(FMT_CHUNK_BYTES, 4);
  fmt.writeUInt16LE(PCM_TAG, 8);
  fmt.writeUInt16LE(1, 10);
  fmt.writeUInt32LE(sampleRate, 12);
  fmt.writeUInt32LE(sampleRate * 2, 16);
  fmt.writeUInt16LE(2, 20);
  fmt.writeUInt16LE(16, 22);
  const riff = Buffer.alloc(12);
  riff.write('RIFF', 0, 'latin1');
  riff.writeUInt32LE(4 + fmt.length + list.length + 8 + dataBytes, 4);
  riff.write('WAVE', 8, 'latin1');
  return Buffer.concat([riff, fmt, list, chunkHead('data', dataBytes)]);
}

function listChunk(comment: string): Buffer {
  const text = Buffer.from(`${comment}\0`, 'utf8');
  const padded = text.length % 2 === 0 ? text : Buffer.concat([text, Buffer.alloc(1)]);
  const body = Buffer.concat([
    Buffer.from('INFO', 'latin1'),
    chunkHead('ICMT', text.length),
    padded,
  ]);
  return Buffer.concat([chunkHead('LIST', body.length), body]);
}

function chunkHead(id: string, bytes: number): Buffer {
  const head = Buffer.alloc(8);
  head.write(id, 0, 'latin1');
  head.writeUInt32LE(bytes, 4);
  return head;
}
