import { isJsonObject, type JsonObject } from '../common/json-object.js';
import { MAX_CHOICES } from '../providers/ports/chat.port.js';
import { finishReasonOf, missingReason } from '../providers/ports/finish-reason.js';
import { knownFieldsOf } from '../providers/text/message-fields.js';
import { CallDeltas } from '../providers/text/tool-calls.js';
import { type CompletionHead, indexOf, logprobsOf } from './completion.mapper.js';

interface OpenChoice {
  /** From the first delta with a call; most streams have none, and thousands are open at once. */
  calls: CallDeltas | undefined;
  hasEnded: boolean;
}

/**
 * The chunks of one stream as the caller gets them (API: Chat stream chunk; decision G-96): known fields only, the role
 * on the first chunk of each choice and nowhere else, the calls of tools under indices of their own, and a finish
 * reason for each choice.
 */
export class CompletionChunks {
  private readonly choices = new Map<number, OpenChoice>();

  /** A chunk with these choices of the provider, without the usage. Choices beyond the maximum number are left out. */
  chunkOf(head: CompletionHead, choices: readonly JsonObject[]): JsonObject {
    const shown: JsonObject[] = [];
    for (const [position, choice] of choices.entries()) {
      const index = indexOf(choice, position);
      if (this.choices.has(index) || this.choices.size < MAX_CHOICES) {
        shown.push(this.shown(choice, index));
      }
    }
    return chunk(head, shown);
  }

  /** The chunk that ends each choice for which the provider sent no finish reason; undefined if there is none. */
  endOf(head: CompletionHead): JsonObject | undefined {
    const open = [...this.choices].filter(([, { hasEnded }]) => !hasEnded);
    if (open.length === 0) return undefined;
    return chunk(
      head,
      open.map(([index, choice]) => ({
        index,
        delta: {},
        finish_reason: missingReason(hasCalls(choice)),
      })),
    );
  }

  private shown(choice: JsonObject, index: number): JsonObject {
    const known = this.choices.get(index);
    const open = known ?? { calls: undefined, hasEnded: false };
    if (!known) this.choices.set(index, open);
    // Clients read fields of `delta` and fail if it is null.
    const delta = isJsonObject(choice.delta) ? choice.delta : {};
    const calls = callsOf(open, delta.tool_calls);
    const reason = finishReasonOf(choice, hasCalls(open));
    open.hasEnded ||= reason !== null;
    const logprobs = logprobsOf(choice);
    return {
      index,
      delta: {
        ...(!known && { role: 'assistant' }),
        ...knownFieldsOf(delta),
        ...(calls.length > 0 && { tool_calls: calls }),
      },
      ...(logprobs && { logprobs }),
      finish_reason: reason,
    };
  }
}

function callsOf(choice: OpenChoice, inDelta: unknown): JsonObject[] {
  if (Array.isArray(inDelta)) choice.calls ??= new CallDeltas();
  return choice.calls?.shown(inDelta) ?? [];
}

const hasCalls = ({ calls }: OpenChoice): boolean => calls?.hasCalls === true;

/** Without `system_fingerprint`, which is a string or absent in the chunks of the field's schemas, never null. */
function chunk({ id, created, model }: CompletionHead, choices: readonly JsonObject[]): JsonObject {
  const object = 'chat.completion.chunk';
  return { id, object, created, model, choices };
}
