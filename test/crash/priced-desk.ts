import type { DataSource } from 'typeorm';
import type { AdmittedCall } from '../../src/admission/admitted-call.js';
import { PaidCalls } from '../../src/billing/calls/paid-calls.js';
import type { PaidCall, PaidCallContext } from '../../src/billing/calls/paid-call.js';
import { CHAT_MODELS } from '../../src/catalog/models/chat.models.js';
import type { ModelRow } from '../../src/catalog/model-row.js';
import { PriceBooks } from '../../src/catalog/price-books/price-books.js';
import { chatRequestOf } from '../../src/chat/chat-request.js';
import { CompletionFace } from '../../src/chat/completion-face.js';
import type { ChatBody } from '../../src/chat/dto/chat.body.js';
import type { Quote } from '../../src/common/money/charge-basis.js';
import type { Clock } from '../../src/common/time/clock.js';
import { Metrics } from '../../src/platform/observability/metrics.js';
import { HttpTransport } from '../../src/providers/http/http-transport.js';
import { ProviderHttp } from '../../src/providers/http/provider-http.js';
import type { Operation } from '../../src/providers/ports/provider-ports.js';
import { OpenAiChat } from '../../src/providers/openai/openai-chat.adapter.js';
import { InlinedImages } from '../../src/text/inlined-images.js';
import { NamedImages } from '../../src/text/named-images.js';
import { TextAnswers } from '../../src/text/text-answers.service.js';
import { quoteOf } from '../../src/text/text-quote.js';
import { TextUsage } from '../../src/text/text-usage.js';
import { TokenCounter } from '../../src/text/tokens/token-counter.js';
import { IDLE_TICKER } from '../support/test-ledger.js';
import { ruleOf } from '../support/token-prices.js';
import { FEWEST_OUTPUT, LISTED, MOST_OUTPUT, TIERS } from './crash-prices.js';

const ENDPOINT = '/v1/chat/completions';
const PROVIDER_TIMEOUT_MS = 30_000;

/** What a client asks of a chat. */
export interface ChatOrder {
  readonly promptChars: number;
  /** Absent: the hold is fitted. */
  readonly maxTokens?: number;
}

/** What the desk needs of its process. */
export interface DeskParts {
  readonly dataSource: DataSource;
  readonly clock: Clock;
  /** The base of the provider's API. */
  readonly provider: string;
  readonly bookOf: (accountId: string) => string | undefined;
  readonly callsWith: (router: PaidCallContext['router']) => PaidCalls;
}

/** Tells what each call holds, before its provider works. */
export class TellingCalls extends PaidCalls {
  constructor(
    private readonly onHeld: (call: AdmittedCall, amountMicroUsd: bigint) => void,
    ...parts: ConstructorParameters<typeof PaidCalls>
  ) {
    super(...parts);
  }

  override async start<O extends Operation>(
    call: AdmittedCall<O>,
    quote: Quote,
  ): Promise<PaidCall<O>> {
    const paid = await super.start(call, quote);
    this.onHeld(call, paid.held.amountMicroUsd);
    return paid;
  }
}

/**
 * Chats at the prices of each account's book, from the body to the settlement by the parts of the gateway, with a provider over
 * HTTP.
 */
export class PricedDesk {
  private readonly books: PriceBooks;
  private readonly answers: TextAnswers;
  private readonly row: ModelRow<'chat'>;

  constructor(private readonly parts: DeskParts) {
    const { dataSource, clock, provider, callsWith } = parts;
    this.books = new PriceBooks(dataSource, clock, IDLE_TICKER);
    const images = new NamedImages(
      undefined as never,
      new InlinedImages(undefined as never, { needsImageBytes: () => false } as never),
    );
    const usage = new TextUsage(new TokenCounter(), clock, new Metrics());
    this.answers = new TextAnswers(callsWith(routerTo(provider, clock)), images, usage);
    const [row] = CHAT_MODELS;
    this.row = {
      ...row,
      hiddenReasoning: false,
      minOutputTokens: FEWEST_OUTPUT,
      limits: { ...row.limits, maxOutputTokens: MOST_OUTPUT },
      price: ruleOf(LISTED, TIERS),
    };
  }

  /** Makes the call; returns its charge in micro-USD, once it is durable. Throws what the endpoint would answer. */
  async fill(
    { promptChars, maxTokens }: ChatOrder,
    by: Pick<AdmittedCall, 'executionId' | 'caller' | 'run' | 'response'>,
  ): Promise<bigint> {
    const book = this.parts.bookOf(by.caller.accountId);
    await this.books.refresh(book);
    const row = this.books.rowFor(this.row, this.books.inForce(book));
    const messages = [{ role: 'user', content: 'a'.repeat(promptChars) }];
    const cap = maxTokens === undefined ? {} : { max_completion_tokens: maxTokens };
    const body: ChatBody = { model: row.id, messages, stream: false, ...cap };
    const quote = quoteOf(row, chatRequestOf(row, body));
    const model = { endpoint: ENDPOINT, row, modelName: row.id, routes: row.routes };
    const face = new CompletionFace({ id: by.executionId, created: 0, model: row.id });
    const call: AdmittedCall<'chat'> = { ...by, ...model };
    const { chargedMicroUsd } = await this.answers.complete(call, quote, face);
    return chargedMicroUsd;
  }
}

/** A router with one provider of OpenAI's protocol. */
function routerTo(baseUrl: string, clock: Clock): PaidCallContext['router'] {
  const transport = new HttpTransport(PROVIDER_TIMEOUT_MS);
  const access = { id: 'openai', baseUrl, apiKey: 'key', transport, clock };
  const port = new OpenAiChat(new ProviderHttp(access, { headers: {} }));
  return {
    run: async (_routes, _operation, work, owner) => {
      const route = { provider: 'openai', upstreamModel: 'gpt-5' };
      const context = { upstreamModel: route.upstreamModel, signal: owner.signal, owner };
      return { ...route, result: await work(port as never, context) };
    },
  };
}
