import { Inject, Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { DeadlinePassed } from '../../billing/calls/call-errors.js';
import { Catalog } from '../../catalog/catalog.js';
import { reportedCostOf } from '../../catalog/reported-cost.js';
import { routeCostOf } from '../../catalog/route-cost.js';
import type { ChargeBasis, ProviderFigures } from '../../common/money/charge-basis.js';
import type { MicroUsd } from '../../common/money/micro-usd.js';
import { GatewayError } from '../../common/errors/gateway-error.js';
import { GATEWAY_CONFIG, type GatewayConfig } from '../../platform/config/gateway-config.js';
import type { OnFigures } from '../../providers/ports/attempt.js';
import {
  type NewItem,
  ResponseStore,
  type StoredItem,
} from '../../stored-responses/response-store.js';
import { CancelRequests } from '../../tasks/completion/cancel-requests.js';
import type { Task } from '../../tasks/task.js';
import type { TaskContext } from '../../tasks/task-kind.js';
import type { BackgroundInput } from './background-input.js';
import type { BackgroundAnswer } from './background-objects.js';

/** Items are at most this much longer when they are sealed. */
const SEALED_GROWTH = 1.5;

/** Processes of version 0.1.0 that live: those of later versions say their version. */
const FORMER =
  'SELECT EXISTS (SELECT FROM gateway_process WHERE version IS NULL AND lease_until > now()) AS lives';
const FORMER_RETRY_AFTER_SECONDS = 30;

/** What bounds one run, and what the provider tells of its cost. To be disposed at its end. */
export interface RunBounds extends Disposable {
  /** Aborts at the deadline, at shutdown, and when another process has taken over. */
  readonly signal: AbortSignal;
  /** Aborts when the holder cancels. */
  readonly left: AbortSignal;
  readonly onFigures: OnFigures;
  readonly figures: () => ProviderFigures | undefined;
}

type Limits = Pick<GatewayConfig, 'taskDeadlineMs' | 'maxBackgroundResponsesPerAccount'>;

/** Bytes of items when they are sealed, at most. */
const bytesOf = (items: readonly unknown[]): number =>
  Math.ceil(Buffer.byteLength(JSON.stringify(items)) * SEALED_GROWTH);

/** What surrounds the work on a response in the background. */
@Injectable()
export class BackgroundWork {
  constructor(
    private readonly cancels: CancelRequests,
    private readonly store: ResponseStore,
    private readonly catalog: Catalog,
    private readonly dataSource: DataSource,
    @Inject(GATEWAY_CONFIG) private readonly config: Limits,
  ) {}

  /** Most open responses of one account; undefined: what it can hold. */
  get maxOpenPerAccount(): number | undefined {
    const { maxBackgroundResponsesPerAccount: most } = this.config;
    return most === 0 ? undefined : most;
  }

  /** The bounds of a run that begins now: it may take as long as a task. */
  boundsOf(task: Task, { signal, onFigures }: TaskContext): RunBounds {
    const watched = this.cancels.watch(task);
    const late = new AbortController();
    const deadline = setTimeout(() => {
      late.abort(new DeadlinePassed());
    }, this.config.taskDeadlineMs).unref();
    let collected: ProviderFigures | undefined;
    return {
      signal: AbortSignal.any([signal, late.signal]),
      left: watched.signal,
      onFigures: (figures) => {
        collected = { ...collected, ...figures };
        onFigures?.(figures);
      },
      figures: () => collected,
      [Symbol.dispose]: () => {
        clearTimeout(deadline);
        watched[Symbol.dispose]();
      },
    };
  }

  /**
   * Throws 400 where nothing is stored, because nobody could read the response, and 413 for a conversation that leaves too
   * little room for an answer. The settings are stored with the response, which shows them.
   */
  checkStorage(items: readonly (StoredItem | NewItem)[], settings: unknown): void {
    if (!this.store.isOn) {
      const message = 'background needs stored responses, and this gateway stores none.';
      throw new GatewayError('invalid_request', message, { param: 'background' });
    }
    if (this.store.fits(2 * bytesOf(items) + bytesOf([settings]))) return;
    const message =
      'input is too large, with the settings, to be kept for a response in the background.';
    throw new GatewayError('request_too_large', message, { param: 'input' });
  }

  /** Throws 503 while a process of version 0.1.0 lives: it does not know such tasks, and fails where it lists them. */
  async refuseBesideFormer(): Promise<void> {
    const [row] = await this.dataSource.query<{ lives: boolean }[]>(FORMER);
    if (row?.lives !== true) return;
    const message =
      'background cannot be used while the gateway is being upgraded from version 0.1.0. Try again later, or leave background out.';
    throw new GatewayError('service_unavailable', message, {
      param: 'background',
      retryAfterSeconds: FORMER_RETRY_AFTER_SECONDS,
    });
  }

  /** Whether a response with this answer can be stored. */
  canKeep(
    { body, items }: Pick<BackgroundInput, 'body' | 'items'>,
    answer: BackgroundAnswer,
  ): boolean {
    return this.store.fits(bytesOf([body]) + bytesOf(items) + bytesOf(answer.stored));
  }

  /** What the work cost at its provider; null where that is not known. */
  costOf(
    { model, provider, upstreamModel }: Task,
    { quantity }: ChargeBasis,
    figures: ProviderFigures | undefined,
  ): MicroUsd | null {
    const route = this.catalog
      .find(model)
      ?.routes.find((own) => own.provider === provider && own.upstreamModel === upstreamModel);
    const reported = reportedCostOf(this.catalog.reportedCostOf(provider), figures);
    return reported ?? (route && routeCostOf(route, { quantity })) ?? null;
  }
}
