import assert from 'node:assert/strict';
import { Injectable } from '@nestjs/common';
import { OPERATIONS } from '../../catalog/operations.js';
import type { Quote } from '../../common/money/charge-basis.js';
import type { PriceLine } from '../../common/money/price-lines.js';
import type { Operation } from '../../providers/ports/provider-ports.js';
import type { AdmittedCall } from '../admitted-call.js';

/**
 * What a call does that a quote does not: it finds a replay, asks for hosts, fetches and measures media, counts
 * the tokens of long texts.
 */
export type UncheckedStep = 'replay' | 'webhook_host' | 'media' | 'tokens';

/** A call that is priced and not made. */
export type QuotedCall<O extends Operation = Operation> = Pick<
  AdmittedCall<O>,
  'row' | 'modelName' | 'routes' | 'caller' | 'endpoint' | 'run'
> & {
  /** Seconds of its recording, as the caller says. */
  readonly durationSeconds?: number | undefined;
};

/** The tokens of a chat that are held. */
export interface TokenQuote {
  readonly linesFor: (outputTokens: number) => readonly PriceLine[];
  /** The output cap of the caller's; undefined where the hold decides it. */
  readonly maxTokens: number | undefined;
}

/** What a call costs, as far as its text tells. */
export interface BodyQuote {
  /** Undefined where it depends on the length of a recording that the caller did not tell. */
  readonly quote: Quote | undefined;
  /** Of a chat. */
  readonly tokens?: TokenQuote;
  /** Of what is held, where the quote has no basis and the call is no chat. */
  readonly lines?: readonly PriceLine[];
  /** In the order in which the call takes them. */
  readonly unchecked: readonly UncheckedStep[];
}

/**
 * Checks all fields of a body and prices the call, as its endpoint does before it calls anybody. Throws what the endpoint
 * throws. Its one await may be for the database.
 */
export type Quoter<O extends Operation = Operation> = (
  call: QuotedCall<O>,
  body: unknown,
) => BodyQuote | Promise<BodyQuote>;

/** How the calls of each endpoint are priced from their text: the registry of what can be quoted. */
@Injectable()
export class QuotableCalls {
  private readonly quoters = new Map<string, Quoter>();

  /**
   * Registers how the calls of an operation are priced, at its own endpoint or at another one; features call it in
   * `onModuleInit`.
   */
  register<O extends Operation>(
    operation: O,
    quoter: Quoter<O>,
    path: string = OPERATIONS[operation].path,
  ): void {
    assert(!this.quoters.has(path), `${path} is registered twice`);
    this.quoters.set(path, quoter as unknown as Quoter);
  }

  /** Every endpoint is registered, because a process that serves callers has all features. */
  at(path: string): Quoter {
    const quoter = this.quoters.get(path);
    assert(quoter, `${path} is not registered`);
    return quoter;
  }
}
