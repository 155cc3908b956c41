/** Both sizes of a WAV of unknown length; decoders read such a file to its end. */
const UNKNOWN_BYTES = 0xffff_ffff;
/** The id and the size before the content of a chunk. */
export const CHUNK_HEAD_BYTES = 8;
/** If the data chunk does not begin within these bytes, the file is treated as one without samples. */
export const WAV_HEAD_BYTES = 64 * 1024;
const MAX_CHUNKS = 64;
const CHUNK_ID = /^[\x20-\x7e]{4}$/;
/** WAV with sizes of 64 bits in a chunk `ds64`. */
const LONG_MAGIC = /^(RF64|BW64)$/;

/** The position of the samples of a WAV, from its first bytes. */
export interface WavHead {
  /** Position of the first sample. */
  readonly dataAt: number;
  /** Declared bytes of samples, which may be a placeholder: 0, 0x7FFFFFFF, 0xFFFFFFFF or any other. */
  readonly declaredBytes: number;
  /** Position of `ds64`; undefined in a file with sizes of 32 bits. */
  readonly longSizesAt: number | undefined;
}

/** Sizes to be written. */
interface WavSizes {
  readonly dataBytes: number;
  readonly fileReader: number;
}

/**
 * Reads the first bytes of a file (at most {@link WAV_HEAD_BYTES}). Undefined if they are not a WAV or contain no data
 * chunk.
 */
export function readWavHead(head: Buffer): WavHead | undefined {
  const isLong = LONG_MAGIC.test(head.toString('latin1', 0, 4));
  if (!isLong && head.toString('latin1', 0, 4) !== 'RIFF') return undefined;
  if (head.toString('latin1', 8, 12) !== 'WAVE') return undefined;
  let longSizesAt: number | undefined;
  let at = 12;
  for (let chunk = 0; chunk < MAX_CHUNKS && at + CHUNK_HEAD_BYTES <= head.length; chunk++) {
    const id = head.toString('latin1', at, at + 4);
    const size = head.readUInt32LE(at + 4);
    const dataAt = at + CHUNK_HEAD_BYTES;
    if (id === 'data') {
      const declaredBytes = isLong ? longSizeOf(head, longSizesAt, size) : size;
      return { dataAt, declaredBytes, longSizesAt };
    }
    if (id === 'ds64') longSizesAt = at;
    at = dataAt + size + (size & 1);
  }
  return undefined;
}

function longSizeOf(head: Buffer, at: number | undefined, size: number): number {
  const hasSize = size === UNKNOWN_BYTES && at !== undefined && at + 24 <= head.length;
  return hasSize ? Number(head.readBigUInt64LE(at + 16)) : size;
}

/**
 * The same bytes with these sizes as a plain WAV: sizes of 64 bits become sizes of 32 bits and `ds64` becomes padding.
 * The length of the head does not change. Without `sizes` they are unknown.
 */
export function withSizes(
  bytes: Buffer,
  { dataAt, longSizesAt }: WavHead,
  sizes: WavSizes | undefined,
): Buffer {
  const head = Buffer.from(bytes);
  head.write('RIFF', 0, 'latin1');
  if (longSizesAt !== undefined) head.write('JUNK', longSizesAt, 'latin1');
  head.writeUInt32LE(sizes ? sizes.fileReader - CHUNK_HEAD_BYTES : UNKNOWN_BYTES, 4);
  head.writeUInt32LE(sizes ? sizes.dataBytes : UNKNOWN_BYTES, dataAt - 4);
  return head;
}

/**
 * Bytes of samples in a complete file. The declared size counts only if nothing or complete chunks follow it; else
 * everything after the head is samples. `readAt` reads the head of a chunk.
 */
export async function dataBytesOf(
  { dataAt, declaredBytes }: WavHead,
  fileReader: number,
  readAt: (position: number) => Promise<Buffer>,
): Promise<number> {
  let at = dataAt + declaredBytes + (declaredBytes % 2);
  for (let chunk = 0; chunk < MAX_CHUNKS && at + CHUNK_HEAD_BYTES <= fileReader; chunk++) {
    const head = await readAt(at);
    if (!CHUNK_ID.test(head.toString('latin1', 0, 4))) break;
    const size = head.readUInt32LE(4);
    at += CHUNK_HEAD_BYTES + size + (size & 1);
  }
  // The padding of the last chunk is often left out.
  const isWhole = at === fileReader || at === fileReader + 1;
  return isWhole ? declaredBytes : fileReader - dataAt;
}
