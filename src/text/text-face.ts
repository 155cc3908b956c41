import type { GatewayError } from '../common/errors/gateway-error.js';
import type { JsonObject } from '../common/json-object.js';
import type { MicroUsd } from '../common/money/micro-usd.js';
import type { ChatEvent } from '../providers/ports/chat.port.js';
import type { CountedUsage } from './charge-basis.js';

/** What a call costs. */
export interface Bill {
  readonly usage: CountedUsage;
  readonly chargedMicroUsd: MicroUsd;
  readonly heldMicroUsd: MicroUsd;
}

/** Tells a whole answer in the protocol of the caller. */
export interface AnswerFace {
  /**
   * The body of the response. Called before the call is settled; throws `UnusableAnswer` for an answer that the protocol
   * cannot tell.
   */
  answer(answer: ChatEvent, bill: Bill): JsonObject;
}

/** Writes a streamed answer in the protocol of the caller. */
export interface StreamFace {
  /**
   * Sends what the event adds. Returns a promise if the next event has to wait for the client. Throws `UnusableAnswer` for
   * an answer that the protocol cannot tell: the stream breaks.
   */
  forward(event: ChatEvent): Promise<void> | undefined;
  /** Sends what ends the answer, once the charge is durable, and ends the response. */
  end(bill: Bill): Promise<void>;
  /**
   * Tells an error after the head of the response was sent, and ends the response. Before the head, the error filter
   * answers.
   */
  fail(error: GatewayError): Promise<void>;
}
