import type { JsonObject } from '../../common/json-object.js';
import type { AnswerFormat, ChatTool, Conversation, ToolChoice } from '../ports/conversation.js';
import { effortOf } from '../ports/conversation.js';
import { responseItemsOf } from './response-items.js';

/** A function without parameters has an object without fields: the vendor wants one. */
const NO_PARAMETERS = { type: 'object', properties: {} };

/**
 * A conversation of another face as the body of a response, without model, cap, store, include and stream. What the
 * protocol does not know, such as stop texts and a seed, is left out.
 */
export function responsesBodyOf(conversation: Conversation): JsonObject {
  const { messages, tools, toolChoice, responseFormat, settings } = conversation;
  const hasTools = tools.length > 0;
  const effort = effortOf(settings);
  return {
    input: responseItemsOf(messages),
    ...(hasTools && { tools: tools.map(toolOf) }),
    ...(hasTools && toolChoice !== undefined && { tool_choice: choiceOf(toolChoice) }),
    ...(hasTools && { parallel_tool_calls: settings.parallelToolCalls }),
    ...textOf(responseFormat, settings.verbosity),
    ...(effort !== undefined && { reasoning: { effort } }),
    temperature: settings.temperature,
    top_p: settings.topP,
    top_logprobs: settings.logprobs === true ? (settings.topLogprobs ?? 0) : undefined,
    user: settings.user,
    safety_identifier: settings.safetyIdentifier,
    prompt_cache_key: settings.promptCacheKey,
    prompt_cache_retention: settings.promptCacheRetention,
  };
}

function textOf(format: AnswerFormat | undefined, verbosity: string | undefined): JsonObject {
  if (format === undefined && verbosity === undefined) return {};
  return { text: { ...(format && { format }), ...(verbosity !== undefined && { verbosity }) } };
}

/** Without a word about it the vendor would take a function as strict, which other protocols do not mean. */
function toolOf(tool: ChatTool): JsonObject {
  const { kind, name, description } = tool;
  const named = { type: kind, name, ...(description !== undefined && { description }) };
  if (tool.kind === 'custom') {
    return { ...named, ...(tool.format && { format: flatFormat(tool.format) }) };
  }
  const { parameters = NO_PARAMETERS, strict = false } = tool;
  return { ...named, parameters, strict };
}

/** A grammar is nested in the neutral form, as chat completions have it. */
function flatFormat({ type, grammar, ...rest }: JsonObject): JsonObject {
  return { type, ...rest, ...(grammar as JsonObject | undefined) };
}

function choiceOf(choice: ToolChoice): string | JsonObject {
  if (typeof choice === 'string') return choice;
  return { type: choice.kind, name: choice.name };
}
