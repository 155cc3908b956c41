import { Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { toPublicId } from '../../common/ids/public-id.js';
import { SecretBox, SecretBoxError } from '../../common/secrets/secret-box.js';
import {
  contextOfAnswer,
  type SentAnswer,
} from '../../platform/http-server/responses/answer-copy.js';
import { FairTurns } from '../../platform/fairness/fair-turns.js';
import { Scheduler } from '../../platform/scheduler/scheduler.js';
import { type FileAnswer, KeptFiles, MAX_ACCOUNT_BYTES } from './kept-files.js';

const SWEEP_MS = 60_000;
const BATCH = 200;
/** Most statements of one sweep. The rest waits for the next sweep. */
const MAX_BATCHES = 50;

/** Answers that a process reads, and writes, at once. More wait, each account in its turn. */
const MAX_AT_ONCE = 2;

const KEEP = 'SELECT answer_keep($1, $2, $3, $4, $5, $6, $7) AS kept';
const FIND = `
  SELECT content_type, headers, bytes, sealed_answer AS sealed, file_id FROM kept_answer
   WHERE account_id = $1 AND id = $2 AND expires_at > now()`;
const SWEEP = 'SELECT answer_sweep($1) AS forgotten';

/** An answer before it is kept. */
export type NewAnswer = Omit<SentAnswer, 'executionId' | 'body'> & {
  /** Makes the body when its turn comes. */
  readonly body: () => Buffer;
  readonly accountId: string;
  /** UUID of the execution. */
  readonly id: string;
};

interface AnswerRow {
  readonly content_type: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly bytes: number;
  readonly sealed: string;
  readonly file_id: string | null;
}

/** Answers of paid synchronous calls, encrypted, for 24 hours. */
@Injectable()
export class KeptAnswers implements OnApplicationBootstrap {
  private readonly logger = new Logger(KeptAnswers.name);
  private readonly reads = new FairTurns(MAX_AT_ONCE);
  private readonly writes = new FairTurns(MAX_AT_ONCE);

  constructor(
    private readonly dataSource: DataSource,
    private readonly box: SecretBox,
    private readonly scheduler: Scheduler,
    private readonly files: KeptFiles,
  ) {}

  onApplicationBootstrap(): void {
    const tick = (stopping: AbortSignal) => this.sweep(stopping);
    this.scheduler.start({ name: 'kept-answers', intervalMs: SWEEP_MS, tick });
  }

  /**
   * Keeps an answer. False where it is not kept: the account has kept 1 GB, all of the account was erased meanwhile, nothing can be
   * encrypted here, or the database did not take it, which is logged.
   */
  keep(answer: NewAnswer): Promise<boolean> {
    return this.writes.run(answer.accountId, () => this.write(answer));
  }

  private async write(answer: NewAnswer): Promise<boolean> {
    const { accountId, id, contentType, headers } = answer;
    if (this.box.keyIds.length === 0) return false;
    const body = answer.body();
    const values = [accountId, id, contentType, JSON.stringify(headers), body.length];
    try {
      const [row] = await this.dataSource.query<{ kept: boolean }[]>(KEEP, [
        ...values,
        this.box.seal(body.toString(encodingOf(contentType)), contextOfAnswer(id)),
        MAX_ACCOUNT_BYTES,
      ]);
      return row?.kept === true;
    } catch (error) {
      // The statement and its values would be in the error of the driver.
      this.logger.warn(`An answer was not kept: ${(error as Error).message}`);
      return false;
    }
  }

  /** The kept answer, read in turn with others: a large one is megabytes to decrypt. See {@link read}. */
  find(accountId: string, id: string): Promise<SentAnswer | FileAnswer | undefined> {
    return this.reads.run(accountId, () => this.read(accountId, id));
  }

  /** The kept answer; undefined if there is none, it is past its day, unreadable, or of another account. */
  private async read(accountId: string, id: string): Promise<SentAnswer | FileAnswer | undefined> {
    const [row] = await this.dataSource.query<AnswerRow[]>(FIND, [accountId, id]);
    if (!row) return undefined;
    const { content_type: contentType, headers, sealed, bytes: sizeBytes, file_id: fileId } = row;
    const answer = { executionId: toPublicId('exec', id), contentType, headers };
    try {
      if (fileId !== null)
        return await this.files.find(accountId, {
          ...answer,
          id,
          sizeBytes,
          fileId,
          sealedKey: sealed,
        });
      const body = this.box.open(sealed, contextOfAnswer(id));
      return { ...answer, body: Buffer.from(body, encodingOf(contentType)) };
    } catch (error) {
      if (error instanceof SecretBoxError) return undefined;
      throw error;
    }
  }

  /** Forgets answers and keys of calls whose day is over; returns how many. No batch begins after the signal aborts. */
  async sweep(stopping?: AbortSignal): Promise<number> {
    let sum = 0;
    for (let batch = 0; batch < MAX_BATCHES && stopping?.aborted !== true; batch += 1) {
      const [row] = await this.dataSource.query<{ forgotten: number }[]>(SWEEP, [BATCH]);
      const forgotten = row?.forgotten ?? 0;
      sum += forgotten;
      if (forgotten < BATCH) break;
    }
    return sum;
  }
}

/** What is sealed is text. */
function encodingOf(contentType: string): 'utf8' | 'base64' {
  return /^(?:text\/|application\/json\b)/.test(contentType) ? 'utf8' : 'base64';
}
