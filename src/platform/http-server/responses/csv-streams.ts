import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable, Logger, StreamableFile } from '@nestjs/common';
import type { Response } from 'express';
import { Quota } from '../../fairness/quota.js';
import { abortResponse } from './backpressure.js';

/** Answers pages of a text, as {@link CsvStreams.open} does for one bucket. */
export type SendPages = (pages: AsyncIterable<string>) => StreamableFile;

/** Whole lists that are sent at once: one is read with many statements, and counts as one request only. */
const STREAMS = { total: 16, perBucket: 4, what: 'CSV answers of whole lists at once' } as const;

/**
 * Answers CSV of any length in pages, each read when the client has taken the one before, so that memory has a page of it and no
 * connection of the database waits for the client. A client that leaves ends the reading. Where a page cannot be read, the
 * connection is aborted, so that the CSV never looks whole.
 */
@Injectable()
export class CsvStreams {
  private readonly logger = new Logger(CsvStreams.name);
  private readonly running = new Quota(STREAMS);

  /** The body of the answer. Throws 429 beyond the share of the bucket, an account or the operators, 503 beyond that of all. */
  open(bucket: string, pages: AsyncIterable<string>): StreamableFile {
    const refusal = this.running.acquire(bucket, 1);
    if (refusal) throw refusal;
    const stream = Readable.from(paced(pages), { objectMode: false })
      .on('error', (error) => {
        this.logger.error(`A CSV broke off: ${error.message}`);
      })
      .once('close', () => {
        this.running.release(bucket, 1);
      });
    return new StreamableFile(stream, { type: 'text/csv' })
      .setErrorHandler((_error, response) => {
        abortResponse(response as unknown as Response);
      })
      .setErrorLogger(() => undefined);
  }
}

/** Pauses after each page for as long as it took: half of the time of a connection is left to others. */
async function* paced(pages: AsyncIterable<string>): AsyncGenerator<string> {
  let startedMs = performance.now();
  for await (const page of pages) {
    const tookMs = performance.now() - startedMs;
    yield page;
    await sleep(tookMs);
    startedMs = performance.now();
  }
}
