import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { JsonObject } from '../common/json-object.js';
import type { AttemptContext } from '../providers/ports/attempt.js';
import type { SongPort, SongSubmission } from '../providers/ports/song.port.js';
import { ProviderRouter } from '../providers/routing/provider-router.js';
import type { Task } from '../tasks/task.js';
import type { PollReport, SubmitReport, TaskContext, TaskKind } from '../tasks/task-kind.js';
import { failedReport } from '../tasks/task-fault.js';
import { TaskKinds } from '../tasks/task-kinds.js';
import { viewTask } from '../tasks/task.view.js';
import { KeptSongSteps } from './kept-song-steps.js';
import { resolvedSongResult } from './resolved-song-result.js';
import { viewSongResult } from './song-result.view.js';
import { commandOf, songDetailsOf, SONG_KIND } from './song-task.js';

const FAILED = 'The provider could not do the work.';

/** Song tasks: they are submitted (in several steps if a recording has to be uploaded first) and then polled. */
@Injectable()
export class SongKind implements TaskKind, OnModuleInit {
  readonly name = SONG_KIND;
  readonly operation = 'song';
  readonly modality = 'audio';
  /** The URLs are the provider's own and are not changed (decision G-78). */
  readonly view = viewTask;

  constructor(
    private readonly kinds: TaskKinds,
    private readonly router: ProviderRouter,
    private readonly steps: KeptSongSteps,
  ) {}

  onModuleInit(): void {
    this.kinds.register(this);
  }

  async submit(task: Task, context: TaskContext): Promise<SubmitReport> {
    const report = await this.router.runOn(
      context.route,
      'song',
      (port, call) => this.send(task, port, call),
      context,
    );
    if (report.state === 'failed') return failedReport(FAILED, task, report.failure);
    return report.state === 'done'
      ? { state: 'done', result: viewSongResult(report.result) }
      : report;
  }

  async poll(task: Task, context: TaskContext): Promise<PollReport> {
    const report = await this.router.runOn(
      context.route,
      'song',
      (port, call) => port.readSong(task.providerJobId ?? '', songDetailsOf(task).expected, call),
      context,
    );
    if (report.state === 'failed') return failedReport(FAILED, task, report.failure);
    return report.state === 'succeeded'
      ? { ...report, result: viewSongResult(report.result) }
      : report;
  }

  resolvedResult(_task: Task, given: JsonObject): JsonObject | undefined {
    return resolvedSongResult(given);
  }

  /** A step that was already paid for the account is not sent again. */
  private async send(task: Task, port: SongPort, call: AttemptContext): Promise<SongSubmission> {
    const { stepState } = task;
    const step = port.songStepOf(commandOf(task), stepState, call);
    if (!step) return port.submitSong(commandOf(task), stepState, call);
    const kept = await this.steps.find(task, step);
    if (kept) return { state: 'step', stepState: { ...stepState, ...kept } };
    const report = await port.submitSong(commandOf(task), stepState, call);
    if (report.state === 'step') {
      const brought = Object.entries(report.stepState).filter(([name]) => !(name in stepState));
      await this.steps.keep(task, step, Object.fromEntries(brought));
    }
    return report;
  }
}
