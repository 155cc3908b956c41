import { invalidField } from '../../common/errors/gateway-error.js';
import { isJsonObject, type JsonObject } from '../../common/json-object.js';
import type {
  ConversationMessage,
  ChatSettings,
  ChatTool,
  Conversation,
  ImagePart,
  AnswerFormat,
  ToolChoice,
} from '../../providers/ports/conversation.js';
import type { IgnoredFields } from '../../text/ignored-fields.js';
import { isOnTheWeb } from '../../text/text-fields.js';
import {
  longestWithLogprobs,
  type NamedImage,
  promptBound,
  type TextRequest,
} from '../../text/text-request.js';
import { LEFT_OUT_TOOLS, LOGPROBS } from '../dto/response-shapes.js';
import type { ResponsesBody } from '../dto/responses.body.js';
import { onlyNative } from './native-request.js';

/**
 * The request in the form of the core of text. `messages` are the conversation without the instructions, `native` is the body
 * for a vendor of this protocol.
 */
export function textRequestOf(
  body: ResponsesBody,
  messages: readonly ConversationMessage[],
  native: JsonObject,
  ignored: IgnoredFields,
): TextRequest {
  const instructed = withInstructions(body, messages);
  const conversation = conversationOf(body, instructed, ignored);
  const images = imagesOf(instructed);
  const beside = () => onlyNative(native, conversation.tools);
  return {
    request: {
      protocol: 'responses',
      native,
      conversation: () => conversation,
    },
    promptTokens: promptBound(
      JSON.stringify([conversation, beside()], without(images)),
      images.length,
    ),
    maxTokens: body.max_output_tokens,
    longestAnswerTokens: longestAnswerTokens(body),
    images: namedImages(images),
    ignored: ignored.names,
    affinity: filled(body.prompt_cache_key),
    prompt: (isNative) => ({
      texts: [...promptTexts(conversation), ...(isNative ? beside() : []).map(inJson)],
      messages: instructed.length,
      images: images.length,
    }),
  };
}

const inJson = (value: unknown): string => JSON.stringify(value);

/** Of a vendor of this protocol a stream ends with the whole answer, too. */
function longestAnswerTokens({ include, top_logprobs = 0 }: ResponsesBody): number | undefined {
  return include?.includes(LOGPROBS) === true ? longestWithLogprobs(top_logprobs) : undefined;
}

function withInstructions(
  { instructions }: ResponsesBody,
  messages: readonly ConversationMessage[],
) {
  if (instructions === undefined || instructions === '') return messages;
  const text = { type: 'text', text: instructions } as const;
  return [{ role: 'system', parts: [text] } as const, ...messages];
}

function conversationOf(
  body: ResponsesBody,
  messages: readonly ConversationMessage[],
  ignored: IgnoredFields,
): Conversation {
  const tools = toolsOf(body.tools ?? [], ignored);
  const { tools: allowed, choice } = choiceOf(body.tool_choice, tools);
  const format = formatOf(body.text);
  return {
    messages,
    tools: allowed,
    ...(choice !== undefined && { toolChoice: choice }),
    ...(format && { responseFormat: format }),
    settings: settingsOf(body, allowed.length > 0),
  };
}

function toolsOf(tools: readonly JsonObject[], ignored: IgnoredFields): ChatTool[] {
  return tools.flatMap((tool, index): ChatTool[] => {
    const { type, name, description, parameters, strict, format } = tool;
    if (LEFT_OUT_TOOLS.has(type)) {
      ignored.add(`tools.${index}:${type as string}`);
      return [];
    }
    const known = type === 'function' ? ['parameters', 'strict'] : ['format'];
    ignored.among(tool, ['type', 'name', 'description', ...known], `tools.${index}`);
    const named = {
      name: name as string,
      ...(typeof description === 'string' && { description }),
    };
    if (type === 'custom') {
      return [
        { kind: 'custom', ...named, ...(isJsonObject(format) && { format: formOf(format) }) },
      ];
    }
    return [
      {
        kind: 'function',
        ...named,
        ...(isJsonObject(parameters) && { parameters }),
        ...(typeof strict === 'boolean' && { strict }),
      },
    ];
  });
}

/** The form of the text for a custom tool; a grammar is nested in the neutral form, as chat completions have it. */
function formOf({ type, syntax, definition, ...rest }: JsonObject): JsonObject {
  return type === 'grammar' ? { type, grammar: { syntax, definition } } : { type, ...rest };
}

/** The tools that the model may call, which `allowed_tools` bounds, and how far it is free to call them. */
function choiceOf(
  wanted: ResponsesBody['tool_choice'],
  tools: readonly ChatTool[],
): { readonly tools: readonly ChatTool[]; readonly choice?: ToolChoice } {
  if (wanted === undefined) return { tools };
  if (isJsonObject(wanted) && wanted.type === 'allowed_tools') {
    const named = wanted.tools as readonly JsonObject[];
    const allowed = named.map((tool, index) =>
      toolNamed(tool, tools, `tool_choice.tools.${index}`),
    );
    return { tools: [...new Set(allowed)], choice: wanted.mode as ToolChoice };
  }
  if (isJsonObject(wanted)) {
    const { kind, name } = toolNamed(wanted, tools, 'tool_choice');
    return { tools, choice: { kind, name } };
  }
  if (tools.length > 0) return { tools, choice: wanted as ToolChoice };
  if (wanted === 'required') throw invalidField('tool_choice', 'needs a tool in tools');
  return { tools };
}

function toolNamed({ type, name }: JsonObject, tools: readonly ChatTool[], path: string): ChatTool {
  const found = tools.find((tool) => tool.kind === type && tool.name === name);
  if (!found) throw invalidField(`${path}.name`, 'must name one of the tools');
  return found;
}

function formatOf(text: JsonObject | undefined): AnswerFormat | undefined {
  const format = text?.format;
  if (!isJsonObject(format)) return undefined;
  const { type, name, schema, strict, description } = format;
  if (type !== 'json_schema') return { type: type as 'text' | 'json_object' };
  return {
    type,
    name: name as string,
    schema: schema as JsonObject,
    ...(typeof strict === 'boolean' && { strict }),
    ...(typeof description === 'string' && { description }),
  };
}

function settingsOf(body: ResponsesBody, hasTools: boolean): ChatSettings {
  const asksLogprobs = body.include?.includes(LOGPROBS) === true;
  const effort = body.reasoning?.effort;
  const verbosity = body.text?.verbosity;
  return {
    temperature: body.temperature,
    topP: body.top_p,
    presencePenalty: body.presence_penalty,
    frequencyPenalty: body.frequency_penalty,
    logprobs: asksLogprobs ? true : undefined,
    topLogprobs: asksLogprobs ? body.top_logprobs : undefined,
    reasoningEffort: typeof effort === 'string' ? effort : undefined,
    verbosity: typeof verbosity === 'string' ? verbosity : undefined,
    parallelToolCalls: hasTools ? body.parallel_tool_calls : undefined,
    user: filled(body.user),
    safetyIdentifier: filled(body.safety_identifier),
    promptCacheKey: filled(body.prompt_cache_key),
    promptCacheRetention: body.prompt_cache_retention,
  };
}

const filled = (text: string | undefined): string | undefined => (text === '' ? undefined : text);

function imagesOf(messages: readonly ConversationMessage[]): ImagePart[] {
  return messages.flatMap(({ parts }) =>
    (parts as readonly { readonly type: string }[]).filter(
      (part): part is ImagePart => part.type === 'image',
    ),
  );
}

function namedImages(images: readonly ImagePart[]): NamedImage[] {
  return images.flatMap(({ url, param = 'input' }) => (isOnTheWeb(url) ? [{ param, url }] : []));
}

/**
 * A replacer that leaves out these images, which count by themselves. It goes by the object and not by its shape: what
 * looks like an image inside a caller's schema is text, which the vendor bills.
 */
function without(images: readonly ImagePart[]): (name: string, value: unknown) => unknown {
  const shown = new Set<unknown>(images);
  return (_name, value) => (shown.has(value) ? { type: 'image' } : value);
}

function promptTexts({ messages, tools, responseFormat }: Conversation): string[] {
  const texts = messages.flatMap(({ parts }) =>
    parts.flatMap((part) => {
      if ('text' in part) return [part.text];
      return part.type === 'tool-call' ? [part.name, part.arguments] : [];
    }),
  );
  const shapes = [
    ...(tools.length > 0 ? [tools] : []),
    ...(responseFormat ? [responseFormat] : []),
  ];
  return [...texts, ...shapes.map((shape) => JSON.stringify(shape))];
}
