import type { ErrorCode } from '../../common/errors/error-table.js';
import type { GatewayError } from '../../common/errors/gateway-error.js';
import type { JsonObject } from '../../common/json-object.js';
import type { SseWriter } from '../../platform/http-server/responses/sse-response.js';
import type { ChatEvent } from '../../providers/ports/chat.port.js';
import type { AnswerFace, Bill, StreamFace } from '../../text/text-face.js';
import type { ResponseWork } from '../response-work.js';
import type { ItemTerms } from './item-draft.js';
import { OutputItems } from './output-items.js';

/** Our codes in the words of `response.error.code`; all others are `server_error`. */
const CODES: Partial<Record<ErrorCode, string>> = {
  provider_rate_limited: 'rate_limit_exceeded',
  rate_limit_exceeded: 'rate_limit_exceeded',
  provider_rejected_request: 'invalid_prompt',
};

/** A response as one JSON object. */
export class ResponseAnswer implements AnswerFace {
  readonly output: OutputItems;

  constructor(
    private readonly work: ResponseWork,
    terms: ItemTerms,
  ) {
    this.output = new OutputItems(terms);
  }

  answer({ parts }: ChatEvent, bill: Bill): JsonObject {
    for (const part of parts) this.output.add(part);
    this.output.end(this.work.isCut(this.output));
    return this.work.finished(this.output, bill);
  }
}

/**
 * A response as server-sent events, in the order that the strictest readers want (API: Events of a response): its start, its items one
 * after the other, its end, `[DONE]`.
 */
export class ResponseStream implements StreamFace {
  private readonly output: OutputItems;
  private sequence = 0;
  private hasBegun = false;
  /** Set while the client has to be waited for. */
  private waiting: Promise<void> | undefined;

  constructor(
    private readonly work: ResponseWork,
    private readonly events: Pick<SseWriter, 'send' | 'end'>,
    terms: ItemTerms,
  ) {
    this.output = new OutputItems(terms, (type, fields) => {
      this.tell(type, fields);
    });
  }

  /** An event for a silence; clients know it and do nothing. */
  heartbeat(): string {
    const event = { type: 'keepalive', sequence_number: this.sequence };
    this.sequence += 1;
    return `event: keepalive\ndata: ${JSON.stringify(event)}\n\n`;
  }

  forward({ parts }: ChatEvent): Promise<void> | undefined {
    this.waiting = undefined;
    this.begin();
    for (const part of parts) this.output.add(part);
    return this.waiting;
  }

  async end(bill: Bill): Promise<void> {
    this.begin();
    const { work, output } = this;
    output.end(work.isCut(output));
    // An id that was shown has to be known from the last event on.
    const response = await work.stored(output, work.finished(output, bill));
    await this.finish(`response.${response.status as string}`, { response });
  }

  async fail(error: GatewayError): Promise<void> {
    this.begin();
    const { message, param, code, type } = error.toEnvelope().error;
    // Readers know the flat form or the nested one.
    this.tell('error', { code, message, param, error: { type, code, message, param } });
    const response = this.work.failed(this.output, failureOf(error));
    await this.finish('response.failed', { response });
  }

  private begin(): void {
    if (this.hasBegun) return;
    this.hasBegun = true;
    const response = this.work.inProgress();
    this.tell('response.created', { response });
    this.tell('response.in_progress', { response });
  }

  private async finish(type: string, fields: JsonObject): Promise<void> {
    this.tell(type, fields);
    await this.waiting;
    await this.events.end('[DONE]');
  }

  private tell(type: string, fields: JsonObject): void {
    const event = JSON.stringify({ type, sequence_number: this.sequence, ...fields });
    this.sequence += 1;
    this.waiting = this.events.send(event, type) ?? this.waiting;
  }
}

/** The error of a response that failed. */
function failureOf({ code, message }: GatewayError): { code: string; message: string } {
  return { code: CODES[code] ?? 'server_error', message };
}
