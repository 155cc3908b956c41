import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Catalog } from '../../catalog/catalog.js';
import { toResponseId } from '../../stored-responses/response-ids.js';
import { orderedModelOf, type Task } from '../../tasks/task.js';
import { costOfWork } from '../../tasks/task-cost.js';
import type {
  PollReport,
  SubmitReport,
  TaskContext,
  TaskEnding,
  TaskKind,
} from '../../tasks/task-kind.js';
import { TaskKinds } from '../../tasks/task-kinds.js';
import { type TaskView, viewTask } from '../../tasks/task.view.js';
import { quoteOf } from '../../text/text-quote.js';
import { BrokenRun, type TextRun, TextRuns } from '../../text/text-runs.service.js';
import { PreparedResponses } from '../prepared-responses.js';
import { type BackgroundInput, inputOfTask, RESPONSE_KIND } from './background-input.js';
import { type BackgroundAnswer, BackgroundObjects } from './background-objects.js';
import { BackgroundWork, type RunBounds } from './background-work.js';
import { RunOutput } from './run-output.js';
import { answerOfRun, CANCELLED, failureOf, withoutOutput } from './run-reports.js';

/** Responses that are made in the background, by the process that has their task (API: Background). */
@Injectable()
export class BackgroundResponseKind implements TaskKind, OnModuleInit {
  readonly name = RESPONSE_KIND;
  readonly operation = 'chat';
  readonly modality = 'text';
  readonly contentAt = 'elsewhere';
  readonly plural = 'responses in the background';

  get maxOpenPerAccount(): number | undefined {
    return this.work.maxOpenPerAccount;
  }

  constructor(
    private readonly kinds: TaskKinds,
    private readonly prepared: PreparedResponses,
    private readonly runs: TextRuns,
    private readonly objects: BackgroundObjects,
    private readonly work: BackgroundWork,
    private readonly catalog: Catalog,
  ) {}

  onModuleInit(): void {
    this.kinds.register(this);
  }

  view(task: Task): TaskView {
    return viewTask(task, 'text');
  }

  ending(task: Task, answer: object | undefined): Promise<TaskEnding> {
    return this.objects.ended(task, answer as BackgroundAnswer | undefined);
  }

  /** There is no job at a provider: the work ends with `submit`. */
  poll(): Promise<PollReport> {
    return Promise.resolve({ state: 'unreadable' });
  }

  /** Makes the whole response. An error from before the provider's answer is thrown, for which the task may wait. */
  async submit(task: Task, context: TaskContext): Promise<SubmitReport> {
    const input = inputOfTask(task.input);
    if (!input) return { state: 'failed', message: 'The request cannot be read any more.' };
    if (task.isCancelAsked) return CANCELLED;
    using bounds = this.work.boundsOf(task, context);
    try {
      return await this.made(task, input, context, bounds);
    } catch (error) {
      const report = failureOf(error);
      if (!(error instanceof BrokenRun)) return report;
      const { uncharged } = error;
      const costMicroUsd = costOfWork(this.catalog, task, uncharged, bounds.figures());
      return { ...report, stepState: { ...task.stepState, uncharged }, costMicroUsd };
    }
  }

  private async made(
    task: Task,
    input: BackgroundInput,
    { route, keyId, onAttemptEnd, onOutputCap, mayStillSend }: TaskContext,
    bounds: RunBounds,
  ): Promise<SubmitReport> {
    const { accountId, reservedMicroUsd: heldMicroUsd } = task;
    const { asked, terms } = this.prepared.again(accountId, input.body, input.items);
    const { signal, onFigures, left } = bounds;
    const { maxTokens, isChosen } = capOf(input, asked, heldMicroUsd);
    if (isChosen) onOutputCap?.(maxTokens);
    const run: TextRun = {
      row: input.model,
      route: { ...route, upstreamProtocol: input.upstreamProtocol },
      asked,
      maxTokens,
      heldMicroUsd,
      owner: { accountId, signal, keyId, onFigures, onAttemptEnd, mayStillSend },
      left,
    };
    const names = { id: toResponseId(task.id), model: orderedModelOf(task) };
    const output = new RunOutput(terms, names);
    const finished = await this.runs.run(run, {
      forward: (event) => {
        output.take(event);
        return undefined;
      },
    });
    const made = answerOfRun(output, finished, left.aborted);
    const answer = this.work.canKeep(input, made) ? made : withoutOutput(made);
    const { basis, bill } = finished;
    const costMicroUsd = costOfWork(this.catalog, task, basis, bounds.figures());
    return {
      state: 'done',
      result: { response_id: names.id, status: answer.status },
      bill: { chargedMicroUsd: bill.chargedMicroUsd, basis, costMicroUsd },
      answer,
    };
  }
}

/** The output cap that the caller wants, or the one that the hold pays for, which the gateway has chosen (decision G-106). */
function capOf({ model }: BackgroundInput, asked: TextRun['asked'], held: bigint) {
  const { hold, maxTokens } = quoteOf(model, asked);
  return {
    maxTokens: maxTokens ?? hold.outputCapFor?.(held) ?? 1,
    isChosen: hold.fit !== undefined,
  };
}
