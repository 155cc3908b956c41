import { Inject, Injectable, Logger } from '@nestjs/common';
import type { Readable } from 'node:stream';
import { DataSource } from 'typeorm';
import { GatewayError } from '../../common/errors/gateway-error.js';
import type { ByteRange } from '../../common/byte-range.js';
import { uuidV7 } from '../../common/ids/uuid-v7.js';
import { Quota } from '../fairness/quota.js';
import { Clock } from '../../common/time/clock.js';
import { Metrics } from '../observability/metrics.js';
import { type OwnedRow, RowLoader } from '../database/batching/row-loader.js';
import { FILE_STORE, type FileStore } from './file-store.port.js';
import { UploadReader } from './upload-reader.js';
import {
  FileTooLargeError,
  type NewFile,
  type StoredFile,
  UNNAMED_FILE_MS,
} from './stored-file.js';

const RETRY_AFTER_SECONDS = 30;

const BEGIN = `
  INSERT INTO stored_file (account_id, id, owner_id, content_type, created_at, expires_at)
  VALUES ($1, $2, $3, $4, $5, $6)`;
const FINISH = `
  UPDATE stored_file SET state = 'stored', size_bytes = $3
   WHERE account_id = $1 AND id = $2 AND state = 'writing' AND expires_at > 'epoch' RETURNING id`;
const EXPIRE = `
  UPDATE stored_file SET expires_at = $3 WHERE account_id = $1 AND id = $2 AND expires_at > $3`;
/** From then on no task can refer to the file, and no write can finish it. */
const GIVE_UP = `
  UPDATE stored_file SET expires_at = 'epoch'
   WHERE account_id = $1 AND id = $2 AND (state = 'writing' OR expires_at <= $3) RETURNING id`;
const FORGET = `DELETE FROM stored_file WHERE account_id = $1 AND id = $2`;

interface Facts {
  readonly content_type: string;
  readonly size_bytes: string;
  readonly expires_at: Date;
}

interface Row extends OwnedRow, Facts {
  readonly state: 'writing' | 'stored';
}

/** Key of a file in the store. */
export function keyOf(accountId: string, id: string): string {
  return `${accountId}/${id}`;
}

/**
 * Files that are kept for a time: sources of tasks, finished dubs and videos (API: GET /v1/tasks/{id}/content; decisions G-60,
 * G-63). Every replica finds them by account and id.
 */
@Injectable()
export class StoredFiles {
  private readonly logger = new Logger(StoredFiles.name);
  private readonly rows: RowLoader<Row>;
  private readonly downloads: Quota;

  constructor(
    @Inject(FILE_STORE) private readonly store: FileStore,
    private readonly dataSource: DataSource,
    private readonly clock: Clock,
    private readonly metrics: Metrics,
  ) {
    this.rows = new RowLoader(dataSource, 'stored_file');
    const { total, perAccount: perBucket } = store.readers;
    this.downloads = new Quota({ total, perBucket, what: 'downloads of files at once' });
  }

  /**
   * Keeps a file; resolves when it is durable. Throws the error of the body, the signal's reason, `FileTooLargeError`,
   * or GatewayError `service_unavailable` when the store fails, for example with a full disk. After an error nothing is
   * left.
   */
  async save(file: NewFile): Promise<StoredFile> {
    const { accountId, ownerId, contentType, expiresAt, announcedBytes = 0, maxBytes } = file;
    const incoming = new UploadReader(file);
    const nowMs = this.clock.nowMs();
    const id = uuidV7(nowMs);
    try {
      if (announcedBytes > maxBytes) throw new FileTooLargeError(maxBytes);
      const row = [accountId, id, ownerId, contentType, new Date(nowMs), expiresAt];
      await this.dataSource.query(BEGIN, row);
      await this.write(accountId, id, contentType, incoming);
    } finally {
      incoming.close();
    }
    return this.fileOf(accountId, id, {
      content_type: contentType,
      size_bytes: String(incoming.sizeBytes),
      expires_at: expiresAt,
    });
  }

  /** The file; undefined when there is none or it has expired. */
  async find(accountId: string, id: string): Promise<StoredFile | undefined> {
    const row = await this.rows.find(accountId, id);
    const isKept = row?.state === 'stored' && row.expires_at.getTime() > this.clock.nowMs();
    return isKept ? this.fileOf(accountId, id, row) : undefined;
  }

  /**
   * A file that was stored before. Throws GatewayError 410 `content_expired` if it has expired, even if it is not
   * removed yet.
   */
  async kept(accountId: string, id: string): Promise<StoredFile> {
    const file = await this.find(accountId, id);
    if (file) return file;
    throw new GatewayError('content_expired', 'The file is past its retention.');
  }

  /**
   * Removes a file before it expires. If the database fails, its bytes are still removed; if the store fails, its row still
   * expires. The sweeper removes what is left.
   */
  async remove(accountId: string, id: string): Promise<void> {
    const ended = [accountId, id, new Date(this.clock.nowMs())];
    const [, removal] = await Promise.allSettled([
      this.dataSource.query(EXPIRE, ended),
      this.discard(accountId, id),
    ]);
    if (removal.status === 'rejected') {
      this.logger.warn(`A stored file is left to the sweeper: ${String(removal.reason)}`);
    }
  }

  /**
   * Removes a file generated by a task, unless the task's completion refers to it meanwhile. If it cannot be removed
   * now, the sweeper removes it later.
   */
  async removeUnreferenced(accountId: string, id: string): Promise<void> {
    const until = new Date(this.clock.nowMs() + UNNAMED_FILE_MS);
    await this.removeExpiring(accountId, id, until).catch((left: unknown) => {
      this.logger.warn(`A stored file is left to the sweeper: ${String(left)}`);
    });
  }

  /**
   * Removes a file that was never finished or expires by `until`. Returns false for any other, such as a file that a
   * task refers to meanwhile. May be repeated. Throws if the store or the database fails.
   */
  async removeExpiring(accountId: string, id: string, until: Date): Promise<boolean> {
    const values = [accountId, id, until];
    const [given] = await this.dataSource.query<[unknown[], number]>(GIVE_UP, values);
    if (given.length === 0) return false;
    await this.discard(accountId, id);
    return true;
  }

  /** Counts a write that its caller has given up because the store hangs. */
  countFailedWrite(): void {
    this.metrics.storageErrors.inc({ operation: 'write' });
  }

  /** Removes the bytes, then the row. May be repeated. Throws when the store fails. */
  private async discard(accountId: string, id: string): Promise<void> {
    await this.removeBytes(accountId, id);
    await this.dataSource.query(FORGET, [accountId, id]);
  }

  private async removeBytes(accountId: string, id: string): Promise<void> {
    try {
      await this.store.remove(keyOf(accountId, id));
    } catch (error) {
      this.metrics.storageErrors.inc({ operation: 'remove' });
      throw error;
    }
  }

  private async write(
    accountId: string,
    id: string,
    contentType: string,
    incoming: UploadReader,
  ): Promise<void> {
    const { signal } = incoming;
    let isWritten = false;
    try {
      const writing = { body: incoming.chunks(), contentType, signal };
      await this.store.write(keyOf(accountId, id), writing);
      isWritten = true;
      if (incoming.failure) throw incoming.failure;
      const done = await this.finish(accountId, id, incoming.sizeBytes);
      if (!done) throw new Error('the sweeper took the file for abandoned');
    } catch (error) {
      // What was broken off may still appear: its row stays, so that the sweeper finds it.
      const isSure = isWritten || !this.store.mayFinishLate;
      const gone = isSure ? this.discard(accountId, id) : this.removeBytes(accountId, id);
      await gone.catch((left: unknown) => {
        this.logger.warn(`A failed write is left to the sweeper: ${String(left)}`);
      });
      if (incoming.failure) throw incoming.failure;
      throw this.unavailable('write', 'The file cannot be stored now.', error);
    }
  }

  private async finish(accountId: string, id: string, sizeBytes: number): Promise<boolean> {
    const [rows] = await this.dataSource.query<[unknown[], number]>(FINISH, [
      accountId,
      id,
      sizeBytes,
    ]);
    return rows.length === 1;
  }

  private fileOf(accountId: string, id: string, row: Facts): StoredFile {
    return {
      id,
      accountId,
      contentType: row.content_type,
      sizeBytes: Number(row.size_bytes),
      etag: `"${id.replaceAll('-', '')}"`,
      expiresAt: row.expires_at,
      open: (range) => this.open(keyOf(accountId, id), range),
      download: (range) => this.download(accountId, id, range),
    };
  }

  private async download(
    accountId: string,
    id: string,
    range: ByteRange | undefined,
  ): Promise<Readable> {
    const refusal = this.downloads.acquire(accountId, 1);
    if (refusal) throw refusal;
    const give = (): void => {
      this.downloads.release(accountId, 1);
    };
    try {
      const bytes = await this.open(keyOf(accountId, id), range);
      if (bytes.closed) give();
      else bytes.once('close', give);
      return bytes;
    } catch (error) {
      give();
      throw error;
    }
  }

  private async open(key: string, range: ByteRange | undefined): Promise<Readable> {
    try {
      return await this.store.read(key, range);
    } catch (error) {
      throw this.unavailable('read', 'The file cannot be read now.', error);
    }
  }

  private unavailable(operation: 'read' | 'write', message: string, cause: unknown): GatewayError {
    this.metrics.storageErrors.inc({ operation });
    this.logger.error(`${message} ${String(cause)}`);
    return new GatewayError('service_unavailable', message, {
      // Its code is that of a file or of the storage, and would be read as one of the database.
      cause: new Error(String(cause), { cause }),
      retryAfterSeconds: RETRY_AFTER_SECONDS,
    });
  }
}
