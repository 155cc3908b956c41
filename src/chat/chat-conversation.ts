import { isJsonObject, type JsonObject } from '../common/json-object.js';
import type {
  ConversationMessage,
  ChatSettings,
  ChatTool,
  Conversation,
  ImagePart,
  ReasoningPart,
  AnswerFormat,
  TextPart,
  ToolCallPart,
  ToolChoice,
} from '../providers/ports/conversation.js';
import { calledToolOf } from '../providers/text/tool-calls.js';
import { partsOf } from './chat-messages.js';
import type { ChatBody } from './dto/chat.body.js';
import { sealedCallOf, sealedReasoningOf } from './sealed-fields.js';

/** A checked chat in neutral parts, for a vendor of another protocol. */
export function conversationOf(body: Partial<ChatBody>): Conversation {
  return {
    messages: (body.messages ?? []).map(messageOf),
    tools: (callableTools(body) ?? []).map(toolOf),
    toolChoice: toolChoiceOf(body.tool_choice),
    responseFormat: body.response_format && formatOf(body.response_format),
    settings: settingsOf(body),
  };
}

/** The tools that the model may call, which `allowed_tools` bounds. */
export function callableTools({
  tools,
  tool_choice: choice,
}: Partial<ChatBody>): readonly JsonObject[] | undefined {
  const allowed = allowedIn(choice)?.tools;
  if (!Array.isArray(allowed)) return tools;
  const named = allowed.map(namedTool);
  return tools?.filter((tool) => {
    const { kind, name } = toolOf(tool);
    return named.some((own) => own?.kind === kind && own.name === name);
  });
}

function messageOf(message: JsonObject, index: number): ConversationMessage {
  const { role, name, tool_call_id: callId } = message;
  switch (role) {
    case 'assistant':
      return { role, parts: assistantParts(message) };
    case 'tool':
      return {
        role,
        callId: typeof callId === 'string' ? callId : '',
        parts: seenParts(message, index),
      };
    case 'system':
    case 'developer':
      return { role, parts: seenParts(message, index).filter(isText) };
    default: {
      const named = typeof name === 'string' ? { name } : {};
      return { role: 'user', parts: seenParts(message, index), ...named };
    }
  }
}

/** What a caller says or shows. */
function seenParts(message: JsonObject, index: number): (TextPart | ImagePart)[] {
  const { content } = message;
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  return partsOf(message).map((part, partIndex) => {
    const { type, image_url: image } = part;
    if (type !== 'image_url' || !isJsonObject(image)) return { type: 'text', text: saidIn(part) };
    const { url, detail } = image;
    const param = `messages.${index}.content.${partIndex}.image_url.url`;
    const known = typeof detail === 'string' ? { detail } : {};
    return { type: 'image', url: String(url), param, ...known };
  });
}

/** The text of a checked part that is a text or a refusal. */
function saidIn({ text, refusal }: JsonObject): string {
  const said = text ?? refusal;
  return typeof said === 'string' ? said : '';
}

function isText(part: TextPart | ImagePart): part is TextPart {
  return part.type === 'text';
}

type AssistantParts = Extract<ConversationMessage, { role: 'assistant' }>['parts'];

function assistantParts(message: JsonObject): AssistantParts {
  const { content, refusal } = message;
  const said: AssistantParts =
    typeof content === 'string'
      ? textAlone(content)
      : partsOf(message).map((part) =>
          part.type === 'refusal'
            ? { type: 'refusal', text: String(part.refusal) }
            : { type: 'text', text: saidIn(part) },
        );
  return [
    ...reasoningOf(message),
    ...said,
    ...(typeof refusal === 'string' && refusal !== ''
      ? [{ type: 'refusal', text: refusal } as const]
      : []),
    ...callsOf(message),
  ];
}

function textAlone(text: string): TextPart[] {
  return text === '' ? [] : [{ type: 'text', text }];
}

function reasoningOf(message: JsonObject): ReasoningPart[] {
  const { reasoning_content: content, reasoning } = message;
  const text = [content, reasoning].find((value) => typeof value === 'string' && value !== '') as
    string | undefined;
  const sealed = sealedReasoningOf(message);
  const [first, ...others] = sealed;
  if (text === undefined && first === undefined) return [];
  return [
    { type: 'reasoning', text: text ?? '', sealed: first },
    ...others.map((part): ReasoningPart => ({ type: 'reasoning', text: '', sealed: part })),
  ];
}

function callsOf({ tool_calls: calls, function_call: call }: JsonObject): ToolCallPart[] {
  const whole = Array.isArray(calls) ? calls.filter(isJsonObject) : [];
  const all = isJsonObject(call) ? [...whole, { id: 'call_0', function: call }] : whole;
  return all.map((each) => {
    const { kind, name, text } = calledToolOf(each);
    const id = typeof each.id === 'string' ? each.id : '';
    const sealed = sealedCallOf(each);
    return { type: 'tool-call', id, kind, name, arguments: text, ...(sealed && { sealed }) };
  });
}

function toolOf(tool: JsonObject): ChatTool {
  const { type, function: called, custom } = tool;
  const { name, description, ...rest } = (type === 'custom' ? custom : called) as JsonObject;
  const about = typeof description === 'string' ? { description } : {};
  const named = { name: String(name), ...about };
  if (type === 'custom') {
    return { kind: 'custom', ...named, ...(isJsonObject(rest.format) && { format: rest.format }) };
  }
  const { parameters, strict } = rest;
  return {
    kind: 'function',
    ...named,
    ...(isJsonObject(parameters) && { parameters }),
    ...(typeof strict === 'boolean' && { strict }),
  };
}

function toolChoiceOf(choice: ChatBody['tool_choice']): ToolChoice | undefined {
  if (choice === 'auto' || choice === 'none' || choice === 'required') return choice;
  if (!isJsonObject(choice)) return undefined;
  const allowed = allowedIn(choice);
  if (allowed) return allowed.mode === 'required' ? 'required' : 'auto';
  return namedTool(choice);
}

/** The `allowed_tools` of a choice of that type. */
function allowedIn(choice: ChatBody['tool_choice']): JsonObject | undefined {
  if (!isJsonObject(choice) || choice.type !== 'allowed_tools') return undefined;
  return isJsonObject(choice.allowed_tools) ? choice.allowed_tools : undefined;
}

function namedTool(named: unknown): Extract<ToolChoice, object> | undefined {
  if (!isJsonObject(named)) return undefined;
  const { type, function: called, custom } = named;
  const kind = type === 'custom' ? 'custom' : 'function';
  const tool = kind === 'custom' ? custom : called;
  return isJsonObject(tool) ? { kind, name: String(tool.name) } : undefined;
}

function formatOf({ type, json_schema: shape }: JsonObject): AnswerFormat {
  if (type !== 'json_schema' || !isJsonObject(shape)) {
    return { type: type === 'json_object' ? 'json_object' : 'text' };
  }
  const { name, schema, strict, description } = shape;
  return {
    type: 'json_schema',
    name: typeof name === 'string' ? name : 'answer',
    schema: isJsonObject(schema) ? schema : {},
    ...(typeof strict === 'boolean' && { strict }),
    ...(typeof description === 'string' && { description }),
  };
}

function settingsOf(body: Partial<ChatBody>): ChatSettings {
  const { stop } = body;
  return {
    temperature: body.temperature,
    topP: body.top_p,
    stop: typeof stop === 'string' ? [stop] : stop,
    seed: body.seed,
    presencePenalty: body.presence_penalty,
    frequencyPenalty: body.frequency_penalty,
    logitBias: body.logit_bias,
    logprobs: body.logprobs,
    topLogprobs: body.top_logprobs,
    reasoningEffort: body.reasoning_effort,
    verbosity: body.verbosity,
    parallelToolCalls: body.parallel_tool_calls,
    user: body.user,
    safetyIdentifier: body.safety_identifier,
    promptCacheKey: body.prompt_cache_key,
    metadata: body.metadata,
  };
}
