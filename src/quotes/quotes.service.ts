import { Injectable } from '@nestjs/common';
import type { RunOfCall } from '../admission/admitted-call.js';
import type { RunConflict } from '../admission/hold-refusal.js';
import { QuotableCalls, type QuotedCall } from '../admission/quotes/quotable-calls.js';
import { ModelGuard } from '../admission/model.guard.js';
import { UnroutedRequests } from '../admission/unrouted-requests.js';
import type { Caller } from '../auth/caller.js';
import { type Available, QuotedHolds } from '../billing/calls/quoted-hold.js';
import { operationAt } from '../catalog/operations.js';
import { PriceBooks } from '../catalog/price-books/price-books.js';
import { GatewayError } from '../common/errors/gateway-error.js';
import { EventLoopPacer } from '../platform/fairness/event-loop-pacer.js';
import type { Operation } from '../providers/ports/provider-ports.js';
import type { QuotedRequestBody } from './dto/quote.body.js';
import { PricedQuotes } from './priced-quotes.js';
import { type QuoteView, viewError } from './quote.view.js';

/** One, because a body may have a megabyte, of which the checks and the price take about 10 ms. Its digest is made in slices. */
const QUOTES_PER_ITERATION = 1;

/** What calls would cost, or why they would be refused (API: POST /v1/quotes). Nothing is called, downloaded or held. */
@Injectable()
export class QuotesService {
  private readonly pacer = new EventLoopPacer(QUOTES_PER_ITERATION);

  constructor(
    private readonly models: ModelGuard,
    private readonly calls: QuotableCalls,
    private readonly books: PriceBooks,
    private readonly holds: QuotedHolds,
    private readonly priced: PricedQuotes,
    private readonly unrouted: UnroutedRequests,
  ) {}

  /** A quote of each request, in their order. Throws only what is no refusal of a request, such as a lost database. */
  async quotes(
    caller: Caller,
    requests: readonly QuotedRequestBody[],
    run?: RunOfCall,
  ): Promise<QuoteView[]> {
    await this.books.refresh(caller.priceBook);
    const available = await this.holds.availableTo(caller, run);
    const by = { caller, ...(run && { run }) };
    const views: QuoteView[] = [];
    for (const request of requests) {
      await this.turn(caller.accountId);
      views.push(await this.quote(by, request, available));
    }
    return views;
  }

  private async quote(
    by: Pick<QuotedCall, 'caller' | 'run'>,
    request: QuotedRequestBody,
    available: Available | RunConflict,
  ): Promise<QuoteView> {
    const path = pathOf(request);
    try {
      const operation = this.soldAt(path, request.method);
      const { body, duration_seconds: durationSeconds } = request;
      const admitted = this.models.admit(operation, by.caller, body);
      const call: QuotedCall = { ...admitted, ...by, endpoint: path, durationSeconds };
      const text = await this.calls.at(path)(call, body);
      return await this.priced.view(call, body, text, available);
    } catch (error) {
      if (!isRefusal(error)) throw error;
      return { object: 'quote', error: viewError(error, path) };
    }
  }

  /** Throws what the gateway answers where it has no such path or method, and 404 where nothing is sold. */
  private soldAt(path: string, method = 'POST'): Operation {
    const operation = operationAt(path);
    const verb = method.toUpperCase();
    if (operation !== undefined && verb === 'POST') return operation;
    throw (
      this.unrouted.refusalOf(verb, path) ??
      new GatewayError('not_found', `${verb} ${path} costs nothing, so there is no quote of it.`)
    );
  }

  /** Waits until no other quote was made in this iteration of the event loop. */
  private turn(bucket: string): Promise<void> | undefined {
    if (this.pacer.mayBegin()) return undefined;
    return new Promise((resolve) => {
      this.pacer.wait(bucket, resolve);
    });
  }
}

/** The path without a query and without a slash at its end, as the router takes it. */
function pathOf({ path }: QuotedRequestBody): string {
  const [plain = ''] = path.split('?', 1);
  return plain.length > 1 && plain.endsWith('/') ? plain.slice(0, -1) : plain;
}

/** Whether the call itself would be refused so. An outage is none. */
function isRefusal(error: unknown): error is GatewayError {
  return error instanceof GatewayError && error.code !== 'service_unavailable';
}
