import { Inject, Injectable } from '@nestjs/common';
import { DeadlinePassed } from '../../billing/calls/call-errors.js';
import type { ProviderFigures } from '../../common/money/charge-basis.js';
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

  /** Whether a response with this answer can be stored. */
  canKeep(
    { body, items }: Pick<BackgroundInput, 'body' | 'items'>,
    answer: BackgroundAnswer,
  ): boolean {
    return this.store.fits(bytesOf([body]) + bytesOf(items) + bytesOf(answer.stored));
  }
}
