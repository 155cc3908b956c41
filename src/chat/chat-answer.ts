import { isJsonObject, type JsonObject } from '../common/json-object.js';

/** The fields that every object of one answer has. */
export interface CompletionHead {
  readonly id: string;
  /** Epoch seconds. */
  readonly created: number;
  /** The gateway's name of the model. */
  readonly model: string;
}

/**
 * The head of an answer. Id and time are the provider's, else `fallback`. The name of the model is always the
 * gateway's.
 */
export function headOf(provided: JsonObject, fallback: CompletionHead): CompletionHead {
  const { id, created } = provided;
  return {
    id: typeof id === 'string' && id !== '' ? id : fallback.id,
    created: Number.isSafeInteger(created) ? (created as number) : fallback.created,
    model: fallback.model,
  };
}

/** The chat completion object (spec: same heading). Other fields of the provider are left out. */
export function completionOf(
  head: CompletionHead,
  completion: JsonObject,
  usage: JsonObject,
): JsonObject {
  const { id, created, model } = head;
  const choices = choicesOf(completion).map((choice, index) => ({
    index,
    logprobs: null,
    ...choice,
    message: {
      role: 'assistant',
      content: null,
      ...(isJsonObject(choice.message) && choice.message),
    },
    finish_reason: choice.finish_reason ?? 'stop',
  }));
  return { id, object: 'chat.completion', created, model, choices, usage };
}

/** The chat stream chunk (spec: same heading), without the usage. */
export function chunkOf(head: CompletionHead, choices: readonly JsonObject[]): JsonObject {
  const { id, created, model } = head;
  const shown = choices.map((choice, index) => ({
    index,
    delta: {},
    ...choice,
    finish_reason: choice.finish_reason ?? null,
  }));
  return { id, object: 'chat.completion.chunk', created, model, choices: shown };
}

/** The choices of a completion or a chunk. */
export function choicesOf({ choices }: JsonObject): readonly JsonObject[] {
  return Array.isArray(choices) ? choices.filter(isJsonObject) : [];
}
