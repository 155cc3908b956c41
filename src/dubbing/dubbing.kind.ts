import { createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import type { JsonObject } from '../common/json-object.js';
import { toPublicId } from '../common/ids/public-id.js';
import { Clock } from '../common/time/clock.js';
import { TempFolder } from '../media/temp-folder.js';
import { ProviderError } from '../providers/http/provider-error.js';
import { ProviderRouter } from '../providers/routing/provider-router.js';
import { type StoredFile, UNNAMED_FILE_MS } from '../platform/storage/stored-file.js';
import { StoredFiles } from '../platform/storage/stored-files.js';
import { ContentLinks } from '../tasks/content-links/content-links.js';
import type { Task } from '../tasks/task.js';
import type {
  CollectedContent,
  PollReport,
  SubmitReport,
  TaskContext,
  TaskKind,
} from '../tasks/task-kind.js';
import { failedReport } from '../tasks/task-fault.js';
import { TaskKinds } from '../tasks/task-kinds.js';
import { announcedType, dubbingDetailsOf, dubbingInputOf } from './dubbing-task.js';
import { dubFilename, dubTypeOf } from './dub-type.js';
import { resolvedDubbingResult, viewDub, viewDubbingResult } from './dubbing.view.js';
import { DAY_MS } from '../common/time/spans.js';

/** Dubs are kept as long as videos (decision G-63). */
const KEPT_MS = 14 * DAY_MS;
/** More than half an hour of video at any resolution. */
const MAX_DUB_BYTES = 4 * 1024 ** 3;

/** Dubbing tasks. The stored source is sent to the provider; the dub is fetched once and kept. */
@Injectable()
export class DubbingKind implements TaskKind, OnModuleInit {
  readonly name = 'dubbing';
  readonly operation = 'dubbing';
  readonly modality = 'audio';
  readonly contentAt = 'task';
  private readonly logger = new Logger(DubbingKind.name);

  constructor(
    private readonly kinds: TaskKinds,
    private readonly router: ProviderRouter,
    private readonly files: StoredFiles,
    private readonly scratch: TempFolder,
    private readonly clock: Clock,
    private readonly links: ContentLinks,
  ) {}

  onModuleInit(): void {
    this.kinds.register(this);
  }

  async submit(task: Task, context: TaskContext): Promise<SubmitReport> {
    const { fileId, filename, contentType, ...options } = dubbingInputOf(task);
    const source = await this.files.find(task.accountId, fileId);
    if (!source) return { state: 'failed', message: 'The source is no longer kept.' };
    const path = this.scratch.newFile();
    try {
      await this.copy(source, path, context);
      const command = {
        ...options,
        media: { path, sizeBytes: source.sizeBytes, filename, contentType },
        name: toPublicId('task', task.id),
      };
      const jobId = await this.router.runOn(
        context.route,
        'dubbing',
        (port, call) => port.submitDub(command, call),
        context,
      );
      return { state: 'accepted', jobId };
    } finally {
      await rm(path, { force: true });
    }
  }

  async poll(task: Task, context: TaskContext): Promise<PollReport> {
    const report = await this.router.runOn(
      context.route,
      'dubbing',
      (port, call) => port.readDub(task.providerJobId ?? '', call),
      context,
    );
    if (report.state === 'pending') return report;
    if (report.state === 'failed') {
      return failedReport('The dub could not be made.', task, report.failure);
    }
    const { targetLanguage } = dubbingDetailsOf(task);
    return {
      state: 'succeeded',
      result: { ...viewDubbingResult(task.id, targetLanguage, report) },
    };
  }

  /** Throws if there is no dub. */
  async collect(task: Task, context: TaskContext): Promise<CollectedContent> {
    const { targetLanguage } = dubbingDetailsOf(task);
    const dub = await this.router.runOn(
      context.route,
      'dubbing',
      (port, call) => port.openDub(task.providerJobId ?? '', targetLanguage, call),
      context,
    );
    const contentType = dubTypeOf(dub.contentType, announcedType(task));
    const nowMs = this.clock.nowMs();
    const file = await this.files.save({
      accountId: task.accountId,
      ownerId: task.id,
      contentType,
      body: dub.body,
      maxBytes: MAX_DUB_BYTES,
      expiresAt: new Date(nowMs + UNNAMED_FILE_MS),
      signal: context.signal,
    });
    const { id: fileId, sizeBytes } = file;
    const filename = dubFilename(targetLanguage, contentType);
    const expiresAt = new Date(nowMs + KEPT_MS);
    return { content: { fileId, contentType, sizeBytes, filename, expiresAt } };
  }

  /** The provider keeps the caller's recording and its dub no longer than necessary. */
  async deleteAtProvider(task: Task, context: TaskContext): Promise<void> {
    const failure = await this.router.runOn(
      context.route,
      'dubbing',
      // A provider that cannot delete may still dub, so this failure must not count for its breaker.
      (port, call) =>
        port.removeDub(task.providerJobId ?? '', call).then(
          () => undefined,
          (error: unknown) => error,
        ),
      context,
    );
    if (failure instanceof Error) throw failure;
  }

  /** The provider has the source. After a crash it stays until it expires. */
  async accepted(task: Task): Promise<void> {
    await this.files.remove(task.accountId, dubbingInputOf(task).fileId);
  }

  /** A source that the provider has was removed before; any other is not sent any more. */
  async ended(task: Task): Promise<void> {
    const { sourceFileId } = dubbingDetailsOf(task);
    if (task.providerJobId !== null || sourceFileId === undefined) return;
    await this.files.remove(task.accountId, sourceFileId);
  }

  view(task: Task): object {
    return viewDub(task, this.links);
  }

  resolvedResult(task: Task, given: JsonObject): JsonObject | undefined {
    const result = resolvedDubbingResult(task.id, dubbingDetailsOf(task).targetLanguage, given);
    return result && { ...result };
  }

  /**
   * The whole file is copied to this machine before a byte is sent. So no work has started if the storage fails,
   * returns only a part, or does not respond before the gateway stops.
   */
  private async copy(source: StoredFile, path: string, context: TaskContext): Promise<void> {
    const stopped = whenStopped(context.signal);
    const opening = source.open();
    try {
      const bytes = await Promise.race([opening, stopped]);
      const copy = createWriteStream(path, { flags: 'wx', mode: 0o600 });
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
      throw new ProviderError('unavailable', { provider: context.route.provider, sent: false });
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
