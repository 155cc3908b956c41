import { isJsonObject, type JsonObject } from '../../common/json-object.js';
import { JSON_BODY_VALUES } from '../../platform/http-server/request-body/json-body.js';
import { listAt } from '../http/json-fields.js';
import type { ChatPart } from '../ports/chat-parts.js';
import { type ChatEvent, MAX_COMPLETION_BYTES, MAX_COMPLETION_VALUES } from '../ports/chat.port.js';
import { UnusableAnswer } from '../ports/unusable-answer.js';
import type { EventLimits } from '../text/chat-event-stream.js';
import { LastEventReader } from '../text/last-event-reader.js';
import { usageOf } from '../text/token-usage.js';
import { endingOf } from './response-answer.js';
import { ResponseParts } from './response-parts.js';

/** The events that show the response before it has said anything. */
const BEGINNINGS: readonly unknown[] = [
  'response.created',
  'response.queued',
  'response.in_progress',
  'keepalive',
];
const ENDS: readonly unknown[] = ['response.completed', 'response.incomplete'];
/** A response that ends so is a failure, which it describes. */
const FAILURES: readonly unknown[] = ['response.failed', 'response.cancelled'];

/**
 * The first events show the settings of the request again, as long as its body may be, and the last ones the whole answer
 * too, with its log probabilities. An answer that was told and broke at its end would be free (decision G-103), so a request
 * must not be able to make them too long.
 */
const LIMITS: EventLimits = {
  chars: 3 * MAX_COMPLETION_BYTES,
  values: MAX_COMPLETION_VALUES + JSON_BODY_VALUES,
};

/** Reads the events of one streamed response. It is complete at `response.completed` or `response.incomplete` alone. */
export class ResponseEventReader extends LastEventReader {
  readonly limits = LIMITS;
  private readonly parts = new ResponseParts();

  errorIn({ type, response }: JsonObject): unknown {
    if (!FAILURES.includes(type)) return undefined;
    return isJsonObject(response) && isJsonObject(response.error) ? response.error : {};
  }

  answerIn({ response }: JsonObject): JsonObject | undefined {
    return isJsonObject(response) ? response : undefined;
  }

  read(event: JsonObject): ChatEvent | null {
    const { type } = event;
    if (typeof type !== 'string') throw new UnusableAnswer('bad_chunk');
    if (BEGINNINGS.includes(type)) return null;
    if (ENDS.includes(type)) return this.finish(event);
    return this.forwarded(event, this.partsOf(type, event));
  }

  private partsOf(type: string, event: JsonObject): ChatPart[] {
    const { output_index: index, delta } = event;
    switch (type) {
      case 'response.output_item.added':
        return this.parts.begin(index, itemOf(event));
      case 'response.output_item.done':
        return this.parts.end(index, itemOf(event));
      case 'response.output_text.delta':
        return this.textOf(event);
      case 'response.refusal.delta':
        return this.parts.say(index, 'refusal', delta);
      case 'response.reasoning_text.delta':
      case 'response.reasoning_summary_text.delta':
        return this.parts.say(index, 'reasoning', delta);
      case 'response.reasoning_summary_part.added':
        return this.parts.nextThought(index);
      case 'response.function_call_arguments.delta':
      case 'response.custom_tool_call_input.delta':
        return this.parts.addToCall(index, delta);
      default:
        return [];
    }
  }

  private textOf(event: JsonObject): ChatPart[] {
    const said = this.parts.say(event.output_index, 'text', event.delta);
    const logprobs = listAt(event, 'logprobs') ?? [];
    return said.map((part) =>
      part.type === 'text' && logprobs.length > 0 ? { ...part, logprobs } : part,
    );
  }

  private finish(event: JsonObject): ChatEvent | null {
    const { response } = event;
    const parts = isJsonObject(response) ? endingOf(response, this.parts) : undefined;
    if (!isJsonObject(response) || parts === undefined) throw new UnusableAnswer('bad_chunk');
    this.isOver = true;
    return this.forwarded(event, parts, usageOf(response));
  }
}

function itemOf({ item }: JsonObject): JsonObject {
  if (!isJsonObject(item)) throw new UnusableAnswer('bad_chunk');
  return item;
}
