import { Injectable } from '@nestjs/common';
import { ClientLeft } from '../billing/calls/call-errors.js';
import type { ModelRow } from '../catalog/model-row.js';
import type { ChargeBasis, UnchargedQuantity } from '../common/money/charge-basis.js';
import type { MicroUsd } from '../common/money/micro-usd.js';
import { providerErrorBehind } from '../providers/http/provider-fault.js';
import type { AttemptOwner, Route } from '../providers/ports/attempt.js';
import type { ChatCommand } from '../providers/ports/chat.port.js';
import type { BodyMeter } from '../platform/http-server/request-body/body-quota.js';
import { Quota } from '../platform/fairness/quota.js';
import { ProviderRouter } from '../providers/routing/provider-router.js';
import { assumedUsageOf, basisOf } from './charge-basis.js';
import { GeneratedTextBuffers } from './generated-text.js';
import { NamedImages } from './named-images.js';
import { StreamOutcomes } from './stream-outcomes.js';
import { StreamRelay } from './stream-relay.js';
import type { Bill, StreamFace } from './text-face.js';
import { chargeOf } from './text-quote.js';
import type { TextRequest } from './text-request.js';

const MIB = 1024 * 1024;
/** Bytes of fetched images that the runs of this process hold at once, and those of one account. Base64 makes them a third longer. */
const IMAGES_IN_MEMORY = {
  total: 192 * MIB,
  perBucket: 64 * MIB,
  what: 'bytes of images for texts that are made in the background',
};

/** A text that is made while nobody waits; its money is held elsewhere. */
export interface TextRun {
  readonly row: Pick<ModelRow<'chat'>, 'price' | 'hiddenReasoning'>;
  readonly route: Route;
  readonly asked: TextRequest;
  /** The output cap, reasoning included. */
  readonly maxTokens: number;
  /** What is held. */
  readonly heldMicroUsd: MicroUsd;
  readonly owner: Pick<
    AttemptOwner,
    'accountId' | 'keyId' | 'signal' | 'onFigures' | 'onAttemptEnd' | 'mayStillSend'
  > & {
    readonly accountId: string;
  };
  /** Aborts when its holder leaves it. */
  readonly left: AbortSignal;
}

/** A run that is to be charged. */
export interface FinishedRun {
  readonly bill: Bill;
  readonly basis: ChargeBasis;
}

/** A run broke after the provider had begun to answer, and had made `uncharged`. Its cause is the error. */
export class BrokenRun extends Error {
  constructor(
    cause: unknown,
    readonly uncharged: UnchargedQuantity,
  ) {
    super('the answer broke', { cause });
  }
}

/** Makes texts without a caller that waits, on one route, in the way of streams. */
@Injectable()
export class TextRuns {
  private readonly imageBytes = new Quota(IMAGES_IN_MEMORY);

  constructor(
    private readonly router: ProviderRouter,
    private readonly images: NamedImages,
    private readonly outcomes: StreamOutcomes,
    private readonly texts: GeneratedTextBuffers,
  ) {}

  /**
   * Runs to the end. When its holder leaves, the provider's work ends as that of a stream whose client leaves, and what was
   * made is charged (decision G-24); of a model with hidden reasoning the whole output cap, where no usage was reported by the
   * deadline. Throws a ProviderError from before the first event as it is, {@link ClientLeft} for a
   * run that was left before it was sent, and {@link BrokenRun}: nothing is to be charged then. Throws 429 or 503 where its
   * images do not fit into memory.
   */
  async run(run: TextRun, face: Pick<StreamFace, 'forward'>): Promise<FinishedRun> {
    const { accountId } = run.owner;
    let heldBytes = 0;
    const countedBody: BodyMeter = {
      add: (bytes) => {
        const refusal = this.imageBytes.acquire(accountId, bytes);
        if (refusal === undefined) heldBytes += bytes;
        return refusal;
      },
    };
    try {
      return await this.runWith(run, face, countedBody);
    } finally {
      this.imageBytes.release(accountId, heldBytes);
    }
  }

  private async runWith(
    run: TextRun,
    face: Pick<StreamFace, 'forward'>,
    countedBody: BodyMeter,
  ): Promise<FinishedRun> {
    const { row, route, owner, left, maxTokens, heldMicroUsd } = run;
    const asked = await this.images.ready({ routes: [route], countedBody }, run.asked);
    if (left.aborted) throw new ClientLeft();
    const command = { ...asked.request, maxTokens };
    const generated = this.texts.begin(owner.accountId);
    const stop = new AbortController();
    const signal = AbortSignal.any([owner.signal, stop.signal]);
    const reader = readerUntil(left);
    const relay = new StreamRelay(reader, face, generated);
    const leave = (): void => {
      relay.leave(() => {
        stop.abort(new ClientLeft());
      });
    };
    try {
      const opened = await this.open(run, command, { ...owner, signal, affinity: asked.affinity });
      const { provider, upstreamModel, result } = opened;
      const relayed = relay.run(result.body, result.unusable);
      if (!row.hiddenReasoning) {
        left.addEventListener('abort', leave, { once: true });
        if (reader.isGone) leave();
      }
      const held = { command, prompt: asked.prompt, ceilingMicroUsd: heldMicroUsd };
      const call = { caller: { accountId: owner.accountId }, row };
      const stream = { call, held, relay, generated, route: { provider, upstreamModel } };
      const isWhole = await relayed.catch(async (error: unknown) => {
        throw new BrokenRun(error, await this.outcomes.broke(stream));
      });
      const counted = await this.outcomes.ended(stream);
      const usage = isWhole ? counted : assumedUsageOf(counted, maxTokens);
      const { chargedMicroUsd } = chargeOf(row, usage, heldMicroUsd);
      return { bill: { usage, chargedMicroUsd, heldMicroUsd }, basis: basisOf(row, usage) };
    } finally {
      left.removeEventListener('abort', leave);
      generated.drop();
    }
  }

  private async open({ route }: TextRun, command: ChatCommand, owner: AttemptOwner) {
    try {
      return await this.router.run(
        [route],
        'chat',
        (port, context) => port.stream(command, context),
        owner,
      );
    } catch (error) {
      throw providerErrorBehind(error) ?? error;
    }
  }
}

/** Nobody reads the events; the run is left when the signal aborts. */
function readerUntil(left: AbortSignal) {
  return {
    get isGone() {
      return left.aborted;
    },
    get isClientGone() {
      return left.aborted;
    },
    cut: () => undefined,
  };
}
