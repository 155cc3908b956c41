import { createSecretKey } from 'node:crypto';
import { type Readable, pipeline } from 'node:stream';
import { Injectable, Logger } from '@nestjs/common';
import type { Response } from 'express';
import { DataSource } from 'typeorm';
import { toPublicId } from '../../common/ids/public-id.js';
import { FrameOpener, sealedBytesOf } from '../../common/secrets/sealed-frames.js';
import { SecretBox } from '../../common/secrets/secret-box.js';
import { Clock } from '../../common/time/clock.js';
import { HeldBytes } from '../../media/held-bytes.js';
import { Spool } from '../../media/spool.js';
import { TempFolder } from '../../media/temp-folder.js';
import { FairTurns } from '../../platform/fairness/fair-turns.js';
import type { Quota } from '../../platform/fairness/quota.js';
import {
  contextOfAnswer,
  type SentAnswer,
  setContentHeaders,
} from '../../platform/http-server/responses/answer-copy.js';
import { relayBytes } from '../../platform/storage/send-stored-file.js';
import { UNNAMED_FILE_MS } from '../../platform/storage/stored-file.js';
import { StoredFiles } from '../../platform/storage/stored-files.js';
import { SpooledAnswer } from './spooled-answer.js';

/** Most bytes of kept answers of one account. */
export const MAX_ACCOUNT_BYTES = 1_000_000_000;
/** The end of the response waits for the storage for so long; after that the answer is not kept. */
const STORE_MS = 30_000;
/** Answers that are stored at once: each has a part of it in memory. Others wait, each account in its turn. */
const MAX_STORES = 8;
/** What the storage is told. */
const SEALED_TYPE = 'application/octet-stream';

const IS_FULL = 'SELECT kept_bytes + $2 > $3 AS full FROM stored_content WHERE account_id = $1';
const KEEP = 'SELECT answer_keep_file($1, $2, $3, $4, $5, $6, $7, $8) AS kept';

/** An answer before its file is kept. */
export type NewFileAnswer = Pick<SentAnswer, 'contentType' | 'headers'> & {
  readonly accountId: string;
  /** UUID of the execution. */
  readonly id: string;
};

/** An answer in a file. */
export interface FileAnswer extends Omit<SentAnswer, 'body'> {
  readonly sizeBytes: number;
  /** Its bytes for a client. Throws GatewayError 503 where the storage fails, 429 beyond the account's share of downloads. */
  readonly open: () => Promise<Readable>;
}

/**
 * Kept answers that are too large for a row: audio, and what is whole in memory. Each is encrypted with a key of its own, which only its row has, so an answer
 * whose row is gone cannot be read. A file expires soon until its row is written, so the sweeper finds what a killed process left.
 */
@Injectable()
export class KeptFiles {
  private readonly logger = new Logger(KeptFiles.name);
  private readonly stores = new FairTurns(MAX_STORES);

  constructor(
    private readonly files: StoredFiles,
    private readonly spool: Spool,
    private readonly folder: TempFolder,
    private readonly dataSource: DataSource,
    private readonly box: SecretBox,
    private readonly clock: Clock,
  ) {}

  /** A file for an answer that is being sent; undefined where nothing can be encrypted here. `memory`: bytes of copies, by account. */
  begin(accountId: string, id: string, memory: Quota): SpooledAnswer | undefined {
    if (this.box.keyIds.length === 0) return undefined;
    const reservation = this.spool.openResponse(accountId);
    const maxBytes = sealedBytesOf(MAX_ACCOUNT_BYTES);
    const file = HeldBytes.open(this.folder.newFile(), reservation, maxBytes);
    return new SpooledAnswer({ accountId, context: contextOfAnswer(id), memory, file });
  }

  /**
   * Stores an answer that has come to its end. False where it is not kept: it was given up, the account has kept 1 GB, all of the
   * account was erased meanwhile, or disk, storage or database did not take it within 30 s, which is logged. What they do later is
   * not waited for.
   */
  async keep(answer: NewFileAnswer, spooled: SpooledAnswer): Promise<boolean> {
    const { accountId, id } = answer;
    const stop = new AbortController();
    const { signal } = stop;
    const failed = (error: Error): void => {
      const execution = toPublicId('exec', id);
      this.logger.warn(`${execution}: its answer was not kept: ${error.message}`);
    };
    const stored = this.stores
      .run(accountId, () => this.store(answer, spooled, signal))
      .catch((error: unknown) => {
        // It was told when its time was over.
        if (!signal.aborted) failed(error as Error);
        return false;
      });
    const timer = setTimeout(() => {
      const late = new Error(`it was not stored within ${STORE_MS} ms`);
      this.files.countFailedWrite();
      failed(late);
      stop.abort(late);
    }, STORE_MS);
    try {
      return await Promise.race([stored, aborted(signal)]);
    } finally {
      clearTimeout(timer);
    }
  }

  private async store(
    answer: NewFileAnswer,
    spooled: SpooledAnswer,
    signal: AbortSignal,
  ): Promise<boolean> {
    signal.throwIfAborted();
    if (!(await spooled.end()) || (await this.isFull(answer, spooled))) return false;
    signal.throwIfAborted();
    const { id: fileId } = await this.files.save({
      accountId: answer.accountId,
      ownerId: answer.id,
      contentType: SEALED_TYPE,
      body: await spooled.sealed(),
      maxBytes: sealedBytesOf(spooled.sizeBytes),
      expiresAt: new Date(this.clock.nowMs() + UNNAMED_FILE_MS),
      signal,
    });
    return this.named(answer, spooled, fileId, signal);
  }

  /** The answer of a file; undefined if the file is gone. Throws SecretBoxError. */
  async find(
    accountId: string,
    row: Omit<FileAnswer, 'open'> & { id: string; fileId: string; sealedKey: string },
  ): Promise<FileAnswer | undefined> {
    const { id, fileId, sealedKey, ...answer } = row;
    const context = contextOfAnswer(id);
    const key = createSecretKey(Buffer.from(this.box.open(sealedKey, context), 'base64'));
    const file = await this.files.find(accountId, fileId);
    if (!file) return undefined;
    const open = async (): Promise<Readable> => {
      const sealed = await file.download();
      // The code that reads the stream gets the error.
      return pipeline(sealed, new FrameOpener(key, context), () => undefined).on(
        'error',
        () => undefined,
      );
    };
    return { ...answer, open };
  }

  private async isFull({ accountId }: NewFileAnswer, { sizeBytes }: SpooledAnswer) {
    const values = [accountId, sizeBytes, MAX_ACCOUNT_BYTES];
    const [row] = await this.dataSource.query<{ full: boolean }[]>(IS_FULL, values);
    return row?.full === true;
  }

  /** Writes the row of a stored file. A file without a row is removed. */
  private async named(
    { accountId, id, contentType, headers }: NewFileAnswer,
    { key, sizeBytes }: SpooledAnswer,
    fileId: string,
    signal: AbortSignal,
  ): Promise<boolean> {
    const sealedKey = this.box.seal(key.toString('base64'), contextOfAnswer(id));
    const values = [accountId, id, contentType, JSON.stringify(headers), sizeBytes];
    let isKept = false;
    try {
      signal.throwIfAborted();
      const [row] = await this.dataSource.query<{ kept: boolean }[]>(KEEP, [
        ...values,
        fileId,
        sealedKey,
        MAX_ACCOUNT_BYTES,
      ]);
      isKept = row?.kept === true;
    } finally {
      if (!isKept) await this.files.removeUnreferenced(accountId, fileId);
    }
    return isKept;
  }
}

/** Sends a kept answer, as fast as the client reads it. Throws as {@link FileAnswer.open}. */
export async function sendFileAnswer(response: Response, answer: FileAnswer): Promise<void> {
  // Its turn came after its reader had left.
  if (response.destroyed) return;
  const bytes = response.req.method === 'HEAD' ? undefined : await answer.open();
  setContentHeaders(response, answer);
  response.setHeader('Content-Length', answer.sizeBytes);
  if (bytes) await relayBytes(response, bytes, answer.sizeBytes);
  else response.end();
}

/** False, once the signal aborts. */
function aborted(signal: AbortSignal): Promise<false> {
  return new Promise((resolve) => {
    signal.addEventListener(
      'abort',
      () => {
        resolve(false);
      },
      { once: true },
    );
  });
}
