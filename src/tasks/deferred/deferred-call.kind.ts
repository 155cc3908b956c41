import { rm } from 'node:fs/promises';
import { Inject, Injectable } from '@nestjs/common';
import { Catalog } from '../../catalog/catalog.js';
import { GatewayError } from '../../common/errors/gateway-error.js';
import type { ProviderFigures, UnchargedQuantity } from '../../common/money/charge-basis.js';
import { GATEWAY_CONFIG, type GatewayConfig } from '../../platform/config/gateway-config.js';
import { ProviderError } from '../../providers/http/provider-error.js';
import type { MediaFile } from '../../providers/ports/audio.port.js';
import { ProviderRouter } from '../../providers/routing/provider-router.js';
import { ContentLinks } from '../content-links/content-links.js';
import { SourceStore } from '../submission/source-store.js';
import type { Task } from '../task.js';
import { WORK_LOST } from '../completion/task-completion.js';
import { costOfWork } from '../task-cost.js';
import { taskFaultOf } from '../task-fault.js';
import type {
  FailedReport,
  PollReport,
  SubmitReport,
  TaskBill,
  TaskContext,
  TaskKind,
} from '../task-kind.js';
import {
  classifySubmitFailure,
  rejectionMessage,
  type SubmitFailure,
} from '../worker/submit-failure.js';
import { AnswerFiles, isStorageFailure } from './answer-files.js';
import type { DeferredRun, DeferredWork, MadeFile } from './call-order.js';
import { keptCallResult, viewCall } from './call-result.view.js';
import { wholeCommandOf, type DeferredInput, type WaitingFile } from './deferred-input.js';

/** What all kinds of calls share. */
@Injectable()
export class DeferredParts {
  constructor(
    readonly router: ProviderRouter,
    readonly sources: SourceStore,
    readonly answers: AnswerFiles,
    readonly links: ContentLinks,
    readonly catalog: Catalog,
    @Inject(GATEWAY_CONFIG) readonly config: Pick<GatewayConfig, 'callDeadlineMs'>,
  ) {}
}

const BROKEN_OFF = 'The provider broke off its answer.';
const UNUSABLE = 'The provider gave no answer that can be used.';

/** What the provider told of the work so far. */
interface ToldOfWork {
  figures?: ProviderFigures;
  uncharged?: UnchargedQuantity;
}

/** The work has an answer of its provider: what fails now is not sent again. Its message is for the caller. */
class AnswerLost extends Error {}

/** A call of one operation as a task: the provider is asked as for a synchronous call, and its answer becomes a file. */
export class DeferredCallKind implements TaskKind {
  readonly contentAt = 'task';

  constructor(
    private readonly work: DeferredWork,
    private readonly parts: DeferredParts,
  ) {}

  get name(): string {
    return this.work.operation;
  }
  get operation(): DeferredWork['operation'] {
    return this.work.operation;
  }
  get modality(): DeferredWork['modality'] {
    return this.work.modality;
  }

  /** Throws the provider's error from before its answer, for which the task may wait. */
  async submit(task: Task, context: TaskContext): Promise<SubmitReport> {
    const input = task.input as DeferredInput;
    const copies: string[] = [];
    const told: ToldOfWork = {};
    try {
      const command = await wholeCommandOf(input, (file) => this.copy(task, file, context, copies));
      return await this.made(task, input, command, context, told);
    } catch (error) {
      // Where this process ends, only what was made and lost is known to have ended.
      const isLost = context.signal.aborted && told.uncharged !== undefined;
      const report: FailedReport = isLost
        ? { state: 'failed', message: WORK_LOST }
        : reportOf(error, context.signal);
      return this.withCost(report, task, told);
    } finally {
      await Promise.all(copies.map((path) => rm(path, { force: true })));
    }
  }

  /** There is no job at a provider: the work ends with `submit`. */
  poll(): Promise<PollReport> {
    return Promise.resolve({ state: 'unreadable' });
  }

  /** What the caller sent is kept until the end of the work. */
  async ended({ accountId, details }: Task): Promise<void> {
    const { sourceFileIds = [] } = details as { readonly sourceFileIds?: readonly string[] };
    await Promise.all(sourceFileIds.map((id) => this.parts.sources.remove(accountId, id)));
  }

  view(task: Task): object {
    return viewCall(task, this.modality, this.parts.links);
  }

  private async copy(
    { accountId }: Task,
    { fileId, filename, contentType }: WaitingFile,
    context: TaskContext,
    copies: string[],
  ): Promise<MediaFile> {
    const copy = await this.parts.sources.copyOf(accountId, fileId, context);
    if (!copy) throw new GatewayError('invalid_request', 'A file of the call is no longer kept.');
    copies.push(copy.path);
    return { ...copy, filename, contentType };
  }

  private async made(
    task: Task,
    { shown, prices }: DeferredInput,
    command: object,
    context: TaskContext,
    told: ToldOfWork,
  ): Promise<SubmitReport> {
    const { config, router } = this.parts;
    const late = new AbortController();
    const timer = setTimeout(() => {
      late.abort(new GatewayError('provider_timeout', 'The provider did not answer in time.'));
    }, config.callDeadlineMs).unref();
    const signal = AbortSignal.any([context.signal, late.signal]);
    const state = { hasAnswered: false, isArriving: false };
    const attempt: DeferredRun<DeferredWork['operation'], object>['attempt'] = async (work) => {
      const owner = { ...context, ...listenersOf(told, context), signal };
      const result = await router.runOn(context.route, this.operation, work, owner);
      state.hasAnswered = true;
      return result;
    };
    try {
      const { accountId, provider } = task;
      const run = { command, shown, accountId, provider, signal, attempt };
      const made = await this.work.make(run);
      state.isArriving = true;
      const bounds = { arriving: signal, storing: context.signal };
      const content = await this.parts.answers.keep(task, made, bounds);
      const bill = this.billOf(task, made, prices, told.figures);
      const result = keptCallResult(task.id, made.contentType);
      const { providerRequestId } = made;
      const stepState = providerRequestId === null ? undefined : { providerRequestId };
      return {
        state: 'done',
        result,
        content,
        ...(bill && { bill }),
        ...(stepState && { stepState }),
      };
    } catch (error) {
      const sentence = state.isArriving ? BROKEN_OFF : UNUSABLE;
      throw state.hasAnswered ? new AnswerLost(sentence, { cause: error }) : error;
    } finally {
      clearTimeout(timer);
    }
  }

  /** What the provider made of work that failed has its cost, although it is not charged. */
  private withCost(
    report: FailedReport,
    task: Task,
    { uncharged, figures }: ToldOfWork,
  ): FailedReport {
    if (uncharged === undefined) return report;
    const costMicroUsd = costOfWork(this.parts.catalog, task, uncharged, figures);
    return { ...report, stepState: { ...task.stepState, uncharged }, costMicroUsd };
  }

  /** Undefined where the whole hold is charged. */
  private billOf(
    task: Task,
    { pieces = 1 }: MadeFile,
    prices: DeferredInput['prices'],
    figures: ProviderFigures | undefined,
  ): TaskBill | undefined {
    const price = prices[Math.min(pieces, prices.length) - 1];
    const chargedMicroUsd = price === undefined ? undefined : BigInt(price.amountMicroUsd);
    if (!price?.basis || chargedMicroUsd === undefined) return undefined;
    if (chargedMicroUsd === task.reservedMicroUsd) return undefined;
    const { basis, choice } = price;
    const made = { quantity: basis.quantity, choice };
    const costMicroUsd = costOfWork(this.parts.catalog, task, made, figures);
    return { chargedMicroUsd, basis, costMicroUsd };
  }
}

function listenersOf(told: ToldOfWork, { onFigures }: TaskContext) {
  return {
    onFigures: (figures: ProviderFigures): void => {
      told.figures = { ...told.figures, ...figures };
      onFigures?.(figures);
    },
    onMade: (made: UnchargedQuantity): void => {
      told.uncharged = made;
    },
  };
}

/** The report of a call that is not charged. Rethrows what may be sent again, and what ended with this process. */
function reportOf(error: unknown, signal: AbortSignal): FailedReport {
  if (signal.aborted) throw error;
  if (error instanceof GatewayError) return { state: 'failed', message: error.message };
  if (!(error instanceof AnswerLost)) return withoutAnswer(error);
  const { cause } = error;
  if (isStorageFailure(cause)) {
    return { state: 'failed', message: 'The answer could not be stored.' };
  }
  if (cause instanceof GatewayError) return { state: 'failed', message: cause.message };
  const fault = taskFaultOf(cause);
  return {
    state: 'failed',
    message: error.message,
    ...(fault && { fault }),
  };
}

/**
 * The report where the provider may have done the work or a part of it, but gave no answer that can be used, or where it refused
 * the work after it was sent. Rethrows any other error.
 */
function withoutAnswer(error: unknown): FailedReport {
  if (!(error instanceof ProviderError)) throw error;
  const meaning = classifySubmitFailure(error);
  if (meaning !== 'unknown' && !error.isPartial) throw error;
  const fault = taskFaultOf(error);
  return { state: 'failed', message: messageOf(error, meaning), ...(fault && { fault }) };
}

function messageOf(error: ProviderError, meaning: SubmitFailure): string {
  if (error.kind === 'timeout') return 'The provider did not answer in time.';
  const isRefused = meaning === 'failed' || error.kind === 'rejected';
  return isRefused ? rejectionMessage(error) : UNUSABLE;
}
