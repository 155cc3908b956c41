import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { AdmittedCall } from '../admission/admitted-call.js';
import { QuotableCalls } from '../admission/quotes/quotable-calls.js';
import { routesForQuote } from '../admission/route-choice.js';
import { PaidCalls } from '../billing/calls/paid-calls.js';
import { validatorOf } from '../common/validation/compiled-validator.js';
import type { Charged } from '../platform/http-server/responses/gateway-headers.js';
import { EmbeddingsBody } from './dto/embeddings.body.js';
import { EmbeddingTokens } from './embedding-tokens.js';
import type { EmbeddingList } from './embeddings-json.js';
import { embeddingsCharge, orderOf } from './embeddings-order.js';

/** Embeddings (API: POST /v1/embeddings). */
@Injectable()
export class EmbeddingsService implements OnModuleInit {
  constructor(
    private readonly calls: PaidCalls,
    private readonly tokens: EmbeddingTokens,
    private readonly quotable: QuotableCalls,
  ) {}

  onModuleInit(): void {
    const validator = validatorOf(EmbeddingsBody);
    this.quotable.register('embeddings', ({ row }, body) => {
      const { hold, lines, command } = orderOf(row, validator.parse(body));
      const isLong = this.tokens.mayExceed(command.inputs, row.limits.maxInputTokens);
      return { quote: hold, lines, unchecked: isLong ? ['tokens'] : [] };
    });
  }

  /**
   * Returns the vectors once their charge is durable: by the tokens that the provider reports, else by those that are
   * counted here. Throws 400 for what the limits of the model exclude, 402 `insufficient_user_quota`, and the provider's
   * failures.
   */
  async embed(
    call: AdmittedCall<'embeddings'>,
    body: EmbeddingsBody,
  ): Promise<Charged<EmbeddingList>> {
    const { row, modelName, caller } = call;
    const { command, hold, basis } = orderOf(row, body);
    const { inputs } = command;
    await this.tokens.check(caller.accountId, inputs, row.limits.maxInputTokens);
    const routes = routesForQuote(call, { basis });
    await using paid = await this.calls.start({ ...call, routes }, hold);
    const { result } = await paid.attempt((port, context) => port.embed(command, context));
    const { vectors, promptTokens } = result;
    const counted =
      promptTokens === null
        ? await paid.orRelease(this.tokens.of(caller.accountId, inputs))
        : { tokens: promptTokens, isEstimated: false };
    const chargedMicroUsd = await paid.settle(
      embeddingsCharge(row, counted, paid.held.amountMicroUsd),
    );
    const format = body.encoding_format;
    const value = {
      vectors,
      format,
      model: modelName,
      promptTokens: counted.tokens,
      chargedMicroUsd,
    };
    return { value, chargedMicroUsd };
  }
}
