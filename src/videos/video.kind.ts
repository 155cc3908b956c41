import assert from 'node:assert/strict';
import { Injectable, type OnModuleInit } from '@nestjs/common';
import { toPublicId } from '../common/ids/public-id.js';
import type { JsonObject } from '../common/json-object.js';
import type { AttemptContext } from '../providers/ports/attempt.js';
import type { MadeWithin, VideoCommand, VideoPort } from '../providers/ports/job.port.js';
import { ProviderRouter } from '../providers/routing/provider-router.js';
import { ContentLinks } from '../tasks/content-links/content-links.js';
import type {
  CollectedContent,
  FoundJob,
  PollReport,
  SubmitReport,
  TaskContext,
  TaskKind,
} from '../tasks/task-kind.js';
import { failedReport } from '../tasks/task-fault.js';
import { TaskKinds } from '../tasks/task-kinds.js';
import type { Task, TaskStatus } from '../tasks/task.js';
import { VideoFiles } from './video-files.js';
import { viewVideoTask } from './video-task.view.js';

/** Name of the kind, stored with every video. */
export const VIDEO_KIND = 'video';

/** A video as a task: submitted, polled, and its file stored (API: POST /v1/videos; decisions G-56 to G-60). */
@Injectable()
export class VideoKind implements TaskKind, OnModuleInit {
  readonly name = VIDEO_KIND;
  readonly operation = 'video';
  readonly modality = 'video';
  readonly contentAt = 'elsewhere';

  constructor(
    private readonly kinds: TaskKinds,
    private readonly router: ProviderRouter,
    private readonly files: VideoFiles,
    private readonly links: ContentLinks,
  ) {}

  onModuleInit(): void {
    this.kinds.register(this);
  }

  async submit(task: Task, context: TaskContext): Promise<SubmitReport> {
    const command = commandOf(task);
    const jobId = await this.router.runOn(
      context.route,
      'video',
      (port, call) => port.submitVideo(command, call),
      context,
    );
    return { state: 'accepted', jobId };
  }

  async find(task: Task, context: TaskContext, made?: MadeWithin): Promise<FoundJob | undefined> {
    const { route } = context;
    if (!this.router.offers(route, 'video', ({ findsBy }) => findsBy !== undefined)) {
      return undefined;
    }
    const isByTime = this.router.offers(route, 'video', ({ findsBy }) => findsBy === 'time');
    if (isByTime && !made) return undefined;
    const command = commandOf(task);
    const jobId = await this.router.runOn(
      route,
      'video',
      (port, call) => Promise.resolve(port.findVideo?.(command, call, made)),
      // A provider that cannot be asked may still make videos.
      { ...context, isUnguarded: true },
    );
    if (jobId === undefined) return undefined;
    return jobId === null ? { state: 'absent', isByTime } : { state: 'found', jobId, isByTime };
  }

  async poll(task: Task, context: TaskContext): Promise<PollReport> {
    const jobId = jobOf(task);
    const report = await this.router.runOn(
      context.route,
      'video',
      (port, call) => port.readVideo(jobId, call),
      context,
    );
    switch (report.state) {
      case 'pending':
      case 'unreadable':
        return report;
      case 'succeeded':
        return { ...report, result: {} };
      case 'failed':
        return failedReport('The provider could not make the video.', task, report.failure);
    }
  }

  async collect(task: Task, context: TaskContext): Promise<CollectedContent> {
    const jobId = jobOf(task);
    const content = await this.router.runOn(
      context.route,
      'video',
      (port, call) => port.openVideo(jobId, call),
      context,
    );
    return { content: await this.files.keep(task, content, context.signal) };
  }

  cancelAtProvider(task: Task, context: TaskContext): Promise<void> {
    const canCancel = (port: VideoPort): boolean => port.canCancel === true;
    return this.ask(context, canCancel, (port, call) => port.cancelVideo?.(jobOf(task), call));
  }

  deleteAtProvider(task: Task, context: TaskContext): Promise<void> {
    const canDelete = (port: VideoPort): boolean => port.canDelete === true;
    return this.ask(context, canDelete, (port, call) => port.deleteVideo?.(jobOf(task), call));
  }

  /** Asks a provider for what not each can do. */
  private async ask(
    context: TaskContext,
    can: (port: VideoPort) => boolean,
    work: (port: VideoPort, call: AttemptContext) => Promise<void> | undefined,
  ): Promise<void> {
    if (!this.router.offers(context.route, 'video', can)) return;
    await this.router.runOn(
      context.route,
      'video',
      (port, call) => Promise.resolve(work(port, call)),
      context,
    );
  }

  /** The result of a video is its file, which an operator cannot supply. */
  resolvedResult(_task: Task, given: JsonObject): JsonObject | undefined {
    return Object.keys(given).length === 0 ? given : undefined;
  }

  view(task: Task): object {
    return viewVideoTask(task, this.links);
  }

  /** Videos have no state for an unknown outcome, so it is reported only once it is known (decision G-58). */
  notifiesOn(status: TaskStatus): boolean {
    return status !== 'reconciliation_required';
  }
}

function commandOf({ id, input }: Task): VideoCommand {
  return { ...(input as unknown as VideoCommand), reference: toPublicId('task', id) };
}

function jobOf({ providerJobId }: Task): string {
  assert(providerJobId !== null, 'video is polled without a provider job');
  return providerJobId;
}
