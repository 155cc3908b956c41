import { Injectable } from '@nestjs/common';
import type { AdmittedCall } from '../admission/admitted-call.js';
import type { UnchargedQuantity } from '../common/money/charge-basis.js';
import type { TriedRoute } from '../providers/ports/attempt.js';
import { BrokenStreams } from './broken-streams.js';
import { basisOf, type CountedUsage } from './charge-basis.js';
import type { GeneratedTextBuffer } from './generated-text.js';
import type { HeldText } from './held-text.js';
import type { StreamRelay } from './stream-relay.js';
import { chargeOf } from './text-quote.js';
import { TextUsage } from './text-usage.js';

/** A stream that has ended or broken. */
interface EndedStream {
  readonly call: {
    readonly caller: Pick<AdmittedCall['caller'], 'accountId'>;
    readonly row: Pick<AdmittedCall<'chat'>['row'], 'price' | 'hiddenReasoning'>;
  };
  readonly held: Pick<HeldText, 'command' | 'prompt' | 'ceilingMicroUsd'>;
  readonly relay: Pick<StreamRelay, 'usage' | 'toldPrompt' | 'isNative'>;
  readonly generated: GeneratedTextBuffer;
  readonly route: TriedRoute;
}

/** Counts the tokens of a stream when it has ended, whether they are charged or not. */
@Injectable()
export class StreamOutcomes {
  constructor(
    private readonly usage: TextUsage,
    private readonly broken: BrokenStreams,
  ) {}

  /** The usage of a stream that is charged. */
  ended(stream: EndedStream): Promise<CountedUsage> {
    this.broken.ended(stream.call.caller.accountId);
    return this.count(stream, stream.call.row.hiddenReasoning);
  }

  /** The generated quantity of a stream that broke before its end, which nobody pays (decision G-103). */
  async broke(stream: EndedStream): Promise<UnchargedQuantity> {
    const { call, held, route } = stream;
    const usage = await this.count(stream, false);
    const { chargedMicroUsd } = chargeOf(call.row, usage, held.ceilingMicroUsd);
    this.broken.broke(call.caller.accountId, route, chargedMicroUsd);
    const { unit, quantity } = basisOf(call.row, usage);
    return { unit, quantity };
  }

  private count(
    { call, held, relay, generated, route }: EndedStream,
    hasHiddenReasoning: boolean,
  ): Promise<CountedUsage> {
    const { accountId } = call.caller;
    const { maxTokens } = held.command;
    const { toldPrompt, isNative } = relay;
    const prompt = () => held.prompt(isNative);
    const completed = { accountId, route, prompt, toldPrompt, maxTokens, hasHiddenReasoning };
    return this.usage.of(completed, relay.usage, () => generated.take());
  }
}
