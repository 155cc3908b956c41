import { rm } from 'node:fs/promises';
import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { JsonObject } from '../common/json-object.js';
import { toPublicId } from '../common/ids/public-id.js';
import { Clock } from '../common/time/clock.js';
import { ProviderRouter } from '../providers/routing/provider-router.js';
import { UNNAMED_FILE_MS } from '../platform/storage/stored-file.js';
import { StoredFiles } from '../platform/storage/stored-files.js';
import { ContentLinks } from '../tasks/content-links/content-links.js';
import { SourceStore } from '../tasks/submission/source-store.js';
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

  constructor(
    private readonly kinds: TaskKinds,
    private readonly router: ProviderRouter,
    private readonly files: StoredFiles,
    private readonly sources: SourceStore,
    private readonly clock: Clock,
    private readonly links: ContentLinks,
  ) {}

  onModuleInit(): void {
    this.kinds.register(this);
  }

  async submit(task: Task, context: TaskContext): Promise<SubmitReport> {
    const { fileId, filename, contentType, ...options } = dubbingInputOf(task);
    const source = await this.sources.copyOf(task.accountId, fileId, context);
    if (!source) return { state: 'failed', message: 'The source is no longer kept.' };
    try {
      const command = {
        ...options,
        media: { ...source, filename, contentType },
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
      await rm(source.path, { force: true });
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
      announcedBytes: dub.announcedBytes,
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
    await this.router.runOn(
      context.route,
      'dubbing',
      (port, call) => port.removeDub(task.providerJobId ?? '', call),
      context,
    );
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
}
