import { Injectable, Logger } from '@nestjs/common';
import { Clock } from '../common/time/clock.js';
import { OnceAnHour } from '../common/time/once-an-hour.js';
import type { TokenUsage } from '../providers/ports/chat.port.js';
import type { TriedRoute } from '../providers/ports/attempt.js';
import { Metrics } from '../platform/observability/metrics.js';
import type { CountedUsage } from './charge-basis.js';
import type { GeneratedText } from './generated-text.js';
import { IMAGE_TOKENS, type PromptText } from './text-request.js';
import { type TokenCount, TokenCounter } from './tokens/token-counter.js';

/** Tokens in addition to the text, for each message and for the reply. */
const TOKENS_PER_MESSAGE = 3;
const TOKENS_PER_REPLY = 3;

/** A call with its response, whose usage is to be found. */
export interface CompletedCall {
  readonly accountId: string;
  readonly route: TriedRoute;
  readonly prompt: () => PromptText;
  /** What the provider told of the prompt before the answer. */
  readonly toldPrompt?: TokenUsage | null;
  /** The output cap that was sent to the provider. */
  readonly maxTokens: number;
  /** Whether the model reasons in tokens that only the provider can count, and the response is complete. */
  readonly hasHiddenReasoning: boolean;
}

/** The tokens of a prompt, and those of them that are its images'. */
export interface PromptCount extends TokenCount {
  readonly imageTokens: number;
}

/**
 * Usage of calls: the provider's numbers if it reports them; otherwise counted here (decision G-23).
 */
@Injectable()
export class TextUsage {
  private readonly logger = new Logger(TextUsage.name);
  private readonly surpluses = new OnceAnHour();
  private readonly unreported = new OnceAnHour();

  constructor(
    private readonly counter: TokenCounter,
    private readonly clock: Clock,
    private readonly metrics: Metrics,
  ) {}

  /** `reported` if it is plausible, else the tokens of the prompt and of the generated text. */
  async of(
    call: CompletedCall,
    reported: TokenUsage | null,
    textOf: () => GeneratedText,
  ): Promise<CountedUsage> {
    // A report of zero completion tokens beside text does not count as a report.
    if (reported && reported.completionTokens > 0) return this.withPrompt(call, reported);
    const generated = textOf();
    if (reported && generated.text === '' && generated.uncountedTokens === 0) {
      return this.explained(call, reported);
    }
    return this.counted(call, generated);
  }

  /**
   * If zero prompt tokens are reported, the prompt is counted here, and subtracted from the tokens of the total that
   * the rest of the report does not explain.
   */
  private async withPrompt(call: CompletedCall, reported: TokenUsage): Promise<CountedUsage> {
    if (reported.promptTokens > 0) return this.explained(call, reported);
    const prompt = await this.promptOf(call);
    const { surplusTokens = 0 } = reported;
    const usage = this.explained(call, {
      ...reported,
      promptTokens: prompt.tokens,
      surplusTokens: Math.max(0, surplusTokens - prompt.tokens),
    });
    return { ...usage, isEstimated: prompt.isEstimated };
  }

  /**
   * Tokens of the total that no other field explains are output, up to the output cap that was sent to the provider.
   */
  private explained({ route, maxTokens }: CompletedCall, reported: TokenUsage): CountedUsage {
    const { surplusTokens = 0, ...usage } = reported;
    if (surplusTokens === 0) return { ...usage, isEstimated: false };
    const { provider, upstreamModel } = route;
    if (this.surpluses.isDue(`${provider} ${upstreamModel}`, this.clock.nowMs())) {
      this.logger.warn(
        `${provider} (${upstreamModel}) reports a total of ${surplusTokens} tokens beyond what it names; they count ` +
          'as output up to the cap that was sent (logged once an hour)',
      );
    }
    const remaining = Math.max(0, maxTokens - usage.completionTokens);
    const completionTokens = usage.completionTokens + Math.min(surplusTokens, remaining);
    return { ...usage, completionTokens, isEstimated: false };
  }

  private async counted(
    call: CompletedCall,
    { text, uncountedTokens }: GeneratedText,
  ): Promise<CountedUsage> {
    const [prompt, completion] = await Promise.all([
      this.promptOf(call),
      this.counter.count(call.accountId, [text]),
    ]);
    if (call.hasHiddenReasoning) this.warnOfUnreportedReasoning(call.route);
    const { imageTokens, ...told } = call.toldPrompt ?? { imageTokens: prompt.imageTokens };
    return {
      promptTokens: prompt.tokens,
      cachedTokens: null,
      ...told,
      ...(imageTokens && { imageTokens }),
      completionTokens: completion.tokens + uncountedTokens,
      reasoningTokens: null,
      isEstimated:
        prompt.isEstimated ||
        completion.isEstimated ||
        uncountedTokens > 0 ||
        call.hasHiddenReasoning,
    };
  }

  private async promptOf({ accountId, prompt, toldPrompt }: CompletedCall): Promise<PromptCount> {
    if (!toldPrompt) return this.promptTokens(accountId, prompt());
    const { promptTokens: tokens, imageTokens = 0 } = toldPrompt;
    return { tokens, imageTokens, isEstimated: false };
  }

  /** The tokens of a prompt, counted here; an upper bound if they cannot be counted soon. Never fails. */
  async promptTokens(
    accountId: string,
    { texts, messages, images }: PromptText,
  ): Promise<PromptCount> {
    const { tokens, isEstimated } = await this.counter.count(accountId, texts);
    const around = messages * TOKENS_PER_MESSAGE + TOKENS_PER_REPLY;
    const imageTokens = images * IMAGE_TOKENS;
    return { tokens: tokens + around + imageTokens, imageTokens, isEstimated };
  }

  /** Logs that the provider bills reasoning tokens which it does not report, so that only the text is charged. */
  private warnOfUnreportedReasoning({ provider, upstreamModel }: TriedRoute): void {
    this.metrics.uncountedReasoning.inc({ provider, upstream_model: upstreamModel });
    if (!this.unreported.isDue(`${provider} ${upstreamModel}`, this.clock.nowMs())) return;
    this.logger.warn(
      `${provider} (${upstreamModel}) reports no usage of a model with hidden reasoning; only its text is ` +
        'charged (logged once an hour)',
    );
  }
}
