import { createReadStream, createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { Injectable, Logger } from '@nestjs/common';
import { GatewayError } from '../../common/errors/gateway-error.js';
import { Clock } from '../../common/time/clock.js';
import { DAY_MS } from '../../common/time/spans.js';
import { Spool, type SpoolReservation } from '../../media/spool.js';
import { TempFolder } from '../../media/temp-folder.js';
import {
  FileTooLargeError,
  type StoredFile,
  UNNAMED_FILE_MS,
} from '../../platform/storage/stored-file.js';
import { StoredFiles } from '../../platform/storage/stored-files.js';
import { SealedContent } from '../reads/sealed-content.js';
import type { Task, TaskContent } from '../task.js';
import type { MadeFile } from './call-order.js';
import { PRIVATE_FILE_MODE } from '../../common/private-files.js';

/** The answer of a call is kept as long as that of a synchronous call (API: Shared audio rules). */
const KEPT_MS = DAY_MS;
/** An hour and a half of WAV, and more than the images of one answer have. */
const MAX_ANSWER_BYTES = 512 * 1024 ** 2;
/** The answer is paid for: storage that fails is asked again after these times. */
const SAVE_DELAYS_MS = [1_000, 2_000, 4_000, 8_000, 15_000];

/** Keeps the answers of calls that became tasks. */
@Injectable()
export class AnswerFiles {
  private readonly logger = new Logger('Tasks');

  constructor(
    private readonly files: StoredFiles,
    private readonly scratch: TempFolder,
    private readonly clock: Clock,
    private readonly spool: Spool,
    private readonly sealed: SealedContent,
  ) {}

  /**
   * The answer comes to this machine whole before it is stored, so storage that fails costs no second call. `arriving` bounds the
   * first, `storing` the second: an answer that is here is not lost at the deadline of its call.
   */
  async keep(
    task: Task,
    made: MadeFile,
    { arriving, storing }: { readonly arriving: AbortSignal; readonly storing: AbortSignal },
  ): Promise<TaskContent> {
    const { contentType, extension } = made;
    const sealed = sealedOf(made, (words) => this.sealed.seal(words, task.id));
    const path = this.scratch.newFile();
    const reservation = this.spool.openResponse(task.accountId);
    try {
      await this.arrived(sealed?.body ?? made.body, path, reservation, arriving);
      const { id: fileId, sizeBytes } = await this.saved(task, path, contentType, storing);
      const filename = `${task.kind}.${extension}`;
      const expiresAt = new Date(this.clock.nowMs() + KEPT_MS);
      const content = { fileId, contentType, sizeBytes, filename, expiresAt };
      return sealed ? { ...content, sizeBytes: sealed.sizeBytes, isSealed: true } : content;
    } finally {
      await rm(path, { force: true });
      reservation.free();
    }
  }

  /** Throws {@link notStored} where our own disk or its share of the account takes no more. */
  private async arrived(
    body: MadeFile['body'],
    path: string,
    reservation: SpoolReservation,
    signal: AbortSignal,
  ): Promise<void> {
    const file = createWriteStream(path, { flags: 'wx', mode: PRIVATE_FILE_MODE });
    try {
      const bytes = bounded(Buffer.isBuffer(body) ? [body] : body, reservation);
      await pipeline(bytes, file, { signal });
    } catch (error) {
      // A provider that says nothing more would keep its connection.
      if (!Buffer.isBuffer(body)) body.destroy();
      const ofDisk = file.errored !== null && file.errored === error && isOfSystem(error);
      if (!ofDisk) throw error;
      this.logger.error(`An answer cannot be written: ${(error as Error).message}`);
      throw notStored(error);
    }
  }

  private async saved(
    { accountId, id: ownerId }: Task,
    path: string,
    contentType: string,
    signal: AbortSignal,
  ): Promise<StoredFile> {
    for (const waitMs of [...SAVE_DELAYS_MS, undefined]) {
      try {
        return await this.files.save({
          accountId,
          ownerId,
          contentType,
          // The code that stores the file gets the error.
          body: createReadStream(path).on('error', () => undefined),
          maxBytes: MAX_ANSWER_BYTES,
          expiresAt: new Date(this.clock.nowMs() + UNNAMED_FILE_MS),
          signal,
        });
      } catch (error) {
        if (waitMs === undefined || !isStorageFailure(error)) throw error;
        await delay(waitMs, undefined, { signal });
      }
    }
    throw new Error('unreachable');
  }
}

/** The words of an answer as they are stored, and their own size; undefined for one that is no words. */
function sealedOf({ body, isWords }: MadeFile, seal: (words: Buffer) => Buffer) {
  if (isWords !== true || !Buffer.isBuffer(body)) return undefined;
  return { body: seal(body), sizeBytes: body.length };
}

async function* bounded(
  bytes: Readable | readonly Buffer[],
  reservation: SpoolReservation,
): AsyncGenerator<Buffer> {
  let sizeBytes = 0;
  for await (const chunk of bytes as AsyncIterable<Buffer>) {
    sizeBytes += chunk.length;
    if (sizeBytes > MAX_ANSWER_BYTES) throw notStored(new FileTooLargeError(MAX_ANSWER_BYTES));
    const refusal = reservation.add(chunk.length);
    if (refusal) throw notStored(refusal);
    yield chunk;
  }
}

const notStored = (cause: unknown): GatewayError =>
  new GatewayError('service_unavailable', 'The answer could not be stored.', { cause });

const isOfSystem = (error: unknown): boolean => error instanceof Error && 'errno' in error;

/** Whether the storage failed, which may work later. */
export const isStorageFailure = (error: unknown): boolean =>
  error instanceof GatewayError && error.code === 'service_unavailable';
