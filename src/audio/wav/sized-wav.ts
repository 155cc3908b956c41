import { Readable } from 'node:stream';
import { Injectable } from '@nestjs/common';
import { TempFolder } from '../../media/temp-folder.js';
import { Spool } from '../../media/spool.js';
import { HeldBytes } from '../../media/held-bytes.js';
import {
  CHUNK_HEAD_BYTES,
  dataBytesOf,
  readWavHead,
  WAV_HEAD_BYTES,
  withSizes,
} from './wav-head.js';

/** A longer WAV is sent as it arrives, with unknown sizes. Three minutes at 44.1 kHz, 16 bits, one channel. */
export const MAX_HELD_BYTES = 16 * 1024 * 1024;
/** The padding of samples of an odd size. */
const PAD = Buffer.alloc(1);

/**
 * WAV files with correct sizes. Providers that write a file while they generate it put placeholders into its head,
 * which players read as hours of sound. A file of at most {@link MAX_HELD_BYTES} is held in the spool until it is
 * complete; a longer one, or one that exceeds the spool's quota, gets unknown sizes and is sent as it arrives.
 */
@Injectable()
export class SizedWav {
  constructor(
    private readonly folder: TempFolder,
    private readonly spool: Spool,
  ) {}

  /**
   * The file with correct or unknown sizes. Its spool reservation is released when the file is closed. `onArrival` is
   * called when the first bytes have arrived. Rejects with the error of the body while the file is held; later the
   * returned stream fails with it.
   */
  async of(
    body: Readable,
    accountId: string,
    onArrival: () => void = () => undefined,
  ): Promise<Readable> {
    const reservation = this.spool.openResponse(accountId);
    const held = await HeldBytes.open(this.folder.newFile(), reservation, MAX_HELD_BYTES);
    const chunks = body.iterator({ destroyOnReturn: false }) as AsyncIterator<Buffer, undefined>;
    try {
      const rest = await filled(held, chunks, onArrival);
      const pieces = rest === undefined ? whole(held) : endless(held, rest, chunks);
      return (
        Readable.from(pieces, { objectMode: false })
          // The code that reads the stream gets the error, unless it has stopped reading.
          .on('error', () => undefined)
          .once('close', () => {
            void held.close();
            // The stream was destroyed before the body was complete.
            if (!body.readableEnded) body.destroy();
          })
      );
    } catch (error) {
      await held.close();
      throw error;
    }
  }
}

/** Holds the arriving bytes. Returns the first chunk that could not be held, or undefined if the body is complete. */
async function filled(
  held: HeldBytes,
  chunks: AsyncIterator<Buffer, undefined>,
  onArrival: () => void,
): Promise<Buffer | undefined> {
  for (;;) {
    const { value } = await chunks.next();
    if (value !== undefined) onArrival();
    if (value === undefined || !(await held.add(value))) return value;
  }
}

/** The complete file, with its correct sizes. */
async function* whole(held: HeldBytes): AsyncGenerator<Buffer> {
  const head = await held.readAt(0, WAV_HEAD_BYTES);
  const wav = readWavHead(head);
  if (wav === undefined) {
    yield* held.from(0);
    return;
  }
  const dataBytes = await dataBytesOf(wav, held.sizeBytes, (at) =>
    held.readAt(at, CHUNK_HEAD_BYTES),
  );
  const isPadMissing = dataBytes % 2 === 1 && wav.dataAt + dataBytes === held.sizeBytes;
  const fileReader = held.sizeBytes + (isPadMissing ? PAD.length : 0);
  yield withSizes(head, wav, { dataBytes, fileReader });
  yield* held.from(head.length);
  if (isPadMissing) yield PAD;
}

/** The held bytes and the bytes that arrive after them, with unknown sizes. */
async function* endless(
  held: HeldBytes,
  rest: Buffer,
  chunks: AsyncIterator<Buffer, undefined>,
): AsyncGenerator<Buffer> {
  let head = await held.readAt(0, WAV_HEAD_BYTES);
  let next: Buffer | undefined = rest;
  // Collects the bytes up to the data chunk: if nothing could be held, a chunk may contain only a part of the head.
  while (next !== undefined && head.length >= held.sizeBytes && isPart(head)) {
    head = Buffer.concat([head, next]);
    next = (await chunks.next()).value;
  }
  const wav = readWavHead(head);
  yield wav === undefined ? head : withSizes(head, wav, undefined);
  yield* held.from(head.length);
  while (next !== undefined) {
    yield next;
    next = (await chunks.next()).value;
  }
}

/** Whether the data chunk may be in bytes that have not arrived yet. */
function isPart(head: Buffer): boolean {
  return head.length < WAV_HEAD_BYTES && readWavHead(head) === undefined;
}
