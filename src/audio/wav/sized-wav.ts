import { Readable } from 'node:stream';
import { Injectable } from '@nestjs/common';
import { TempFolder } from '../../media/temp-folder.js';
import { Spool } from '../../media/spool.js';
import { HeldBytes } from './held-bytes.js';
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
 * WAV files with true sizes. Providers that write a file while they make it put placeholders into its head, which players
 * take for hours of sound. A file of at most {@link MAX_HELD_BYTES} is held in the spool until it is there; a longer one,
 * or one for which the spool has no room, gets unknown sizes and goes on as it arrives.
 */
@Injectable()
export class SizedWav {
  constructor(
    private readonly folder: TempFolder,
    private readonly spool: Spool,
  ) {}

  /**
   * The file with true or unknown sizes. What it holds is given back when it is closed. `onArrival` is called when the first
   * bytes are there. Rejects with the error of the body while the file is held; later the file fails with it.
   */
  async of(
    body: Readable,
    accountId: string,
    onArrival: () => void = () => undefined,
  ): Promise<Readable> {
    const room = this.spool.openResponse(accountId);
    const held = await HeldBytes.open(this.folder.newFile(), room, MAX_HELD_BYTES);
    const chunks = body.iterator({ destroyOnReturn: false }) as AsyncIterator<Buffer, undefined>;
    try {
      const rest = await filled(held, chunks, onArrival);
      const pieces = rest === undefined ? whole(held) : endless(held, rest, chunks);
      return (
        Readable.from(pieces, { objectMode: false })
          // Its reader learns of the error, unless it has left.
          .on('error', () => undefined)
          .once('close', () => {
            void held.close();
            // Its reader gave it up before it had arrived.
            if (!body.readableEnded) body.destroy();
          })
      );
    } catch (error) {
      await held.close();
      throw error;
    }
  }
}

/** Holds what arrives. Gives the first chunk that could not be held, or undefined when everything is there. */
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

/** The file that is there, with its true sizes. */
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

/** What is held, and what arrives after it, with unknown sizes. */
async function* endless(
  held: HeldBytes,
  rest: Buffer,
  chunks: AsyncIterator<Buffer, undefined>,
): AsyncGenerator<Buffer> {
  let head = await held.readAt(0, WAV_HEAD_BYTES);
  let next: Buffer | undefined = rest;
  // As much as names the samples: where nothing could be held, a chunk may be a part of the head.
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

/** Whether more bytes may tell where the samples are. */
function isPart(head: Buffer): boolean {
  return head.length < WAV_HEAD_BYTES && readWavHead(head) === undefined;
}
