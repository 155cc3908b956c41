import { isJsonObject, type JsonObject } from '../common/json-object.js';

/** The fields that every object of one answer has. */
export interface CompletionHead {
  readonly id: string;
  /** Epoch seconds. */
  readonly created: number;
  /** The gateway's name of the model. */
  readonly model: string;
}

/** Ten digits are the years 2001 to 2286. A time in milliseconds has thirteen, so it is refused. */
function isEpochSeconds(value: unknown): value is number {
  return Number.isSafeInteger(value) && /^[1-9]\d{9}$/.test(String(value));
}

/**
 * The head of an answer. Id and time are the provider's, else `fallback`. The name of the model is always the
 * gateway's.
 */
export function headOf(provided: JsonObject, fallback: CompletionHead): CompletionHead {
  const { id, created } = provided;
  return {
    id: typeof id === 'string' && id !== '' ? id : fallback.id,
    created: isEpochSeconds(created) ? created : fallback.created,
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
  const choices = choicesOf(completion).map((choice, place) => ({
    logprobs: null,
    ...choice,
    index: indexOf(choice, place),
    message: {
      role: 'assistant',
      content: null,
      ...(isJsonObject(choice.message) && choice.message),
    },
    finish_reason: reasonOf(choice) ?? 'stop',
  }));
  return { id, object: 'chat.completion', created, model, choices, usage };
}

/** The chat stream chunk (spec: same heading), without the usage. */
export function chunkOf(head: CompletionHead, choices: readonly JsonObject[]): JsonObject {
  const { id, created, model } = head;
  const shown = choices.map((choice, place) => ({
    ...choice,
    index: indexOf(choice, place),
    // Clients read its fields, and fail where it is null.
    delta: isJsonObject(choice.delta) ? choice.delta : {},
    finish_reason: reasonOf(choice),
  }));
  return { id, object: 'chat.completion.chunk', created, model, choices: shown };
}

/** The choices of a completion or a chunk. */
export function choicesOf({ choices }: JsonObject): readonly JsonObject[] {
  return Array.isArray(choices) ? choices.filter(isJsonObject) : [];
}

function indexOf({ index }: JsonObject, place: number): number {
  return typeof index === 'number' && Number.isSafeInteger(index) && index >= 0 ? index : place;
}

function reasonOf({ finish_reason: reason }: JsonObject): string | null {
  return typeof reason === 'string' ? reason : null;
}
