/** Both sizes of a WAV whose length is not known; decoders read such a file to its end. */
const UNKNOWN_BYTES = 0xffff_ffff;
/** The id and the size before the content of a chunk. */
export const CHUNK_HEAD_BYTES = 8;
/** A file that begins with as many bytes of other chunks has no samples as far as we know. */
export const WAV_HEAD_BYTES = 64 * 1024;
const MAX_CHUNKS = 64;
const CHUNK_ID = /^[\x20-\x7e]{4}$/;
/** WAV with sizes of 64 bits in a chunk `ds64`. */
const LONG_MAGIC = /^(RF64|BW64)$/;

/** Where the samples of a WAV are, as its first bytes say. */
export interface WavHead {
  /** Where the first sample is. */
  readonly dataAt: number;
  /** Bytes of samples as told, which may be a placeholder: 0, 0x7FFFFFFF, 0xFFFFFFFF or any other. */
  readonly toldBytes: number;
  /** Where `ds64` is; undefined in a file with sizes of 32 bits. */
  readonly longSizesAt: number | undefined;
}

/** Sizes to be written. */
interface WavSizes {
  readonly dataBytes: number;
  readonly fileReader: number;
}

/** Reads the first bytes of a file (at most {@link WAV_HEAD_BYTES}). Undefined when they are no WAV or name no samples. */
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
      const toldBytes = isLong ? longSizeOf(head, longSizesAt, size) : size;
      return { dataAt, toldBytes, longSizesAt };
    }
    if (id === 'ds64') longSizesAt = at;
    at = dataAt + size + (size & 1);
  }
  return undefined;
}

function longSizeOf(head: Buffer, at: number | undefined, size: number): number {
  const isTold = size === UNKNOWN_BYTES && at !== undefined && at + 24 <= head.length;
  return isTold ? Number(head.readBigUInt64LE(at + 16)) : size;
}

/**
 * The same bytes with these sizes as a plain WAV: one of 64 bits gets sizes of 32 bits and its `ds64` becomes padding. The
 * length of the head stays. Without sizes they are unknown.
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
 * Bytes of samples in a file that is there as a whole. The told size counts only if nothing or whole chunks follow it;
 * else everything after the head is samples. `readAt` gives the bytes of a chunk's head.
 */
export async function dataBytesOf(
  { dataAt, toldBytes }: WavHead,
  fileReader: number,
  readAt: (position: number) => Promise<Buffer>,
): Promise<number> {
  let at = dataAt + toldBytes + (toldBytes % 2);
  for (let chunk = 0; chunk < MAX_CHUNKS && at + CHUNK_HEAD_BYTES <= fileReader; chunk++) {
    const head = await readAt(at);
    if (!CHUNK_ID.test(head.toString('latin1', 0, 4))) break;
    const size = head.readUInt32LE(4);
    at += CHUNK_HEAD_BYTES + size + (size & 1);
  }
  // The padding of the last chunk is often left out.
  const isWhole = at === fileReader || at === fileReader + 1;
  return isWhole ? toldBytes : fileReader - dataAt;
}
