import { isJsonObject, type JsonObject } from '../../common/json-object.js';
import type { SealedPart } from '../ports/conversation.js';

/** A call of a tool in OpenAI's format, or a piece of one, without its id and its index. */
export interface CalledTool {
  readonly kind: 'function' | 'custom';
  readonly name: string;
  /** Arguments of a function, as JSON text, or the input of a custom tool. */
  readonly text: string;
  /** What its vendor wants back with it. */
  readonly sealed: SealedPart | undefined;
}

/** Reads `function` or `custom`, and `extra_content`, of a call. */
export function calledToolOf({
  function: called,
  custom,
  extra_content: extra,
}: JsonObject): CalledTool {
  const isCustom = isJsonObject(custom) && !isJsonObject(called);
  const tool = isCustom ? custom : isJsonObject(called) ? called : {};
  const { name, arguments: args, input } = tool;
  const text = isCustom ? input : args;
  return {
    kind: isCustom ? 'custom' : 'function',
    name: typeof name === 'string' ? name : '',
    text: typeof text === 'string' ? text : '',
    sealed: isJsonObject(extra) ? { family: 'chat', value: extra } : undefined,
  };
}
