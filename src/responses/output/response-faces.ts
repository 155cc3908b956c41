import type { ErrorCode } from '../../common/errors/error-table.js';
import type { GatewayError } from '../../common/errors/gateway-error.js';
import type { JsonObject } from '../../common/json-object.js';
import type { SseWriter } from '../../platform/http-server/responses/sse-response.js';
import type { ChatEvent } from '../../providers/ports/chat.port.js';
import type { AnswerFace, Bill, StreamFace } from '../../text/text-face.js';
import type { ResponseWork } from '../response-work.js';
import type { ItemTerms, MadeOutput } from './item-draft.js';
import { NativeItems } from './native-items.js';
import { OutputItems } from './output-items.js';

/** Our codes in the words of `response.error.code`; all others are `server_error`. */
const CODES: Partial<Record<ErrorCode, string>> = {
  provider_rate_limited: 'rate_limit_exceeded',
  rate_limit_exceeded: 'rate_limit_exceeded',
  provider_rejected_request: 'invalid_prompt',
};

/** A response as one JSON object. */
export class ResponseAnswer implements AnswerFace {
  output: MadeOutput;

  constructor(
    private readonly work: ResponseWork,
    private readonly terms: ItemTerms,
  ) {
    this.output = new OutputItems(terms);
  }

  answer(answer: ChatEvent, bill: Bill): JsonObject {
    this.output = answer.native === null ? this.made(answer) : this.passed(answer);
    return this.work.finished(this.output, bill);
  }

  private made({ parts }: ChatEvent): MadeOutput {
    const output = new OutputItems(this.terms);
    for (const part of parts) output.add(part);
    output.end(this.work.isCut(output));
    return output;
  }

  private passed(answer: ChatEvent): MadeOutput {
    const output = new NativeItems(this.terms, this.work.names);
    output.takeWhole(answer);
    return output;
  }
}

/**
 * A response as server-sent events, in the order that the strictest readers want (API: Events of a response): its start, its items one
 * after the other, its end, `[DONE]`.
 */
export class ResponseStream implements StreamFace {
  private readonly output: OutputItems;
  /** The items of a vendor of this protocol, in place of those that are made here. */
  private readonly passed: NativeItems;
  private isNative = false;
  private sequence = 0;
  private hasBegun = false;
  /** Set while the client has to be waited for. */
  private waiting: Promise<void> | undefined;

  constructor(
    private readonly work: ResponseWork,
    private readonly events: Pick<SseWriter, 'send' | 'end'>,
    terms: ItemTerms,
  ) {
    const tell = (type: string, fields: JsonObject): void => {
      this.tell(type, fields);
    };
    this.output = new OutputItems(terms, tell);
    this.passed = new NativeItems(terms, work.names, tell);
  }

  /** An event for a silence; clients know it and do nothing. */
  heartbeat(): string {
    const event = { type: 'keepalive', sequence_number: this.sequence };
    this.sequence += 1;
    return `event: keepalive\ndata: ${JSON.stringify(event)}\n\n`;
  }

  forward(event: ChatEvent): Promise<void> | undefined {
    this.waiting = undefined;
    this.begin();
    this.isNative ||= event.native !== null;
    if (this.isNative) this.passed.take(event);
    else for (const part of event.parts) this.output.add(part);
    return this.waiting;
  }

  async end(bill: Bill): Promise<void> {
    this.begin();
    const { work, made: output } = this;
    if (!this.isNative) this.output.end(work.isCut(output));
    // An id that was shown has to be known from the last event on.
    const response = await work.stored(output, work.finished(output, bill));
    await this.finish(`response.${response.status as string}`, { response });
  }

  async fail(error: GatewayError): Promise<void> {
    this.begin();
    const { message, param, code, type } = error.toEnvelope().error;
    // Readers know the flat form or the nested one.
    this.tell('error', { code, message, param, error: { type, code, message, param } });
    const response = this.work.failed(this.made, failureOf(error));
    await this.finish('response.failed', { response });
  }

  private get made(): MadeOutput {
    return this.isNative ? this.passed : this.output;
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
