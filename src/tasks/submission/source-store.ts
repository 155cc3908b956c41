import { createReadStream, createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { Inject, Injectable, Logger } from '@nestjs/common';
import { Clock } from '../../common/time/clock.js';
import { TempFolder } from '../../media/temp-folder.js';
import { GATEWAY_CONFIG, type GatewayConfig } from '../../platform/config/gateway-config.js';
import { MEDIA_LIMIT_BYTES } from '../../platform/http-client/download.js';
import type { StoredFile } from '../../platform/storage/stored-file.js';
import { StoredFiles } from '../../platform/storage/stored-files.js';
import { ProviderError } from '../../providers/http/provider-error.js';
import type { TaskContext } from '../task-kind.js';
import { PRIVATE_FILE_MODE } from '../../common/private-files.js';

/** A source that was never submitted is kept longer than its task can be open, by this much. */
const SOURCE_SLACK_MS = 3_600_000;

/** A checked source on this machine. */
interface LocalSource {
  readonly accountId: string;
  /** The call that brought it. */
  readonly ownerId: string;
  readonly path: string;
  readonly contentType: string;
}

/** A stored source on this machine; whoever asked for it removes the file. */
interface LocalCopy {
  readonly path: string;
  readonly sizeBytes: number;
}

/** Keeps the sources of tasks until the provider has them. */
@Injectable()
export class SourceStore {
  private readonly logger = new Logger('Tasks');

  constructor(
    private readonly files: StoredFiles,
    private readonly scratch: TempFolder,
    private readonly clock: Clock,
    @Inject(GATEWAY_CONFIG) private readonly config: Pick<GatewayConfig, 'taskDeadlineMs'>,
  ) {}

  /** Throws what {@link StoredFiles.save} throws. */
  keep({ path, ...source }: LocalSource): Promise<StoredFile> {
    return this.files.save({
      ...source,
      // The code that stores the file gets the error.
      body: createReadStream(path).on('error', () => undefined),
      maxBytes: MEDIA_LIMIT_BYTES,
      expiresAt: new Date(this.clock.nowMs() + this.config.taskDeadlineMs + SOURCE_SLACK_MS),
    });
  }

  remove(accountId: string, fileId: string): Promise<void> {
    return this.files.remove(accountId, fileId);
  }

  /**
   * Copies a source to this machine; undefined if it is no longer kept. The whole file is here before a byte is sent. So no work
   * has started if the storage fails, returns only a part, or does not respond before the gateway stops: then throws a
   * ProviderError that was never sent.
   */
  async copyOf(
    accountId: string,
    fileId: string,
    context: Pick<TaskContext, 'route' | 'signal'>,
  ): Promise<LocalCopy | undefined> {
    const source = await this.files.find(accountId, fileId);
    if (!source) return undefined;
    const path = this.scratch.newFile();
    try {
      await this.copy(source, path, context);
    } catch (error) {
      await rm(path, { force: true });
      throw error;
    }
    return { path, sizeBytes: source.sizeBytes };
  }

  private async copy(
    source: StoredFile,
    path: string,
    { route, signal }: Pick<TaskContext, 'route' | 'signal'>,
  ): Promise<void> {
    const stopped = whenStopped(signal);
    const opening = source.open();
    try {
      const bytes = await Promise.race([opening, stopped]);
      const copy = createWriteStream(path, { flags: 'wx', mode: PRIVATE_FILE_MODE });
      // The pipeline reports the error.
      copy.on('error', () => undefined);
      await Promise.race([pipeline(bytes, copy), stopped]);
      if (copy.bytesWritten !== source.sizeBytes) {
        throw new Error(`it has ${copy.bytesWritten} bytes instead of ${source.sizeBytes}`);
      }
    } catch (error) {
      opening.then(
        (bytes) => bytes.destroy(),
        () => undefined,
      );
      this.logger.error(`A source cannot be read: ${String(error)}`);
      throw new ProviderError('unavailable', { provider: route.provider, sent: false });
    }
  }
}

/** Rejects if the signal aborts. */
function whenStopped(signal: AbortSignal): Promise<never> {
  const stopped = new Promise<never>((_, reject) => {
    const stop = (): void => {
      reject(new Error('the work was stopped', { cause: signal.reason }));
    };
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
  // The signal may abort after the last reader has continued.
  stopped.catch(() => undefined);
  return stopped;
}
