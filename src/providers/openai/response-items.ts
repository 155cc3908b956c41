import type { JsonObject } from '../../common/json-object.js';
import type {
  AudioPart,
  ConversationMessage,
  ImagePart,
  ReasoningPart,
  TextPart,
  ToolCallPart,
} from '../ports/conversation.js';
import { encryptedItemOf } from '../text/encrypted-items.js';

type AssistantPart = Extract<ConversationMessage, { role: 'assistant' }>['parts'][number];
type ToolMessage = Extract<ConversationMessage, { role: 'tool' }>;

/** The items of a conversation of another face. They have no ids: the vendor stores none of them. */
export function responseItemsOf(messages: readonly ConversationMessage[]): JsonObject[] {
  const customCalls = new Set<string>();
  return messages.flatMap((message): JsonObject[] => {
    if (message.role === 'tool') return [outputOf(message, customCalls.has(message.callId))];
    if (message.role !== 'assistant') {
      const { role, parts } = message;
      return [{ type: 'message', role, content: parts.map(inputPartOf) }];
    }
    for (const part of message.parts) {
      if (part.type === 'tool-call' && part.kind === 'custom') customCalls.add(part.id);
    }
    return assistantItemsOf(message.parts);
  });
}

/** Texts that follow each other are one message; reasoning and calls are items of their own. */
function assistantItemsOf(parts: readonly AssistantPart[]): JsonObject[] {
  const items: JsonObject[] = [];
  let content: JsonObject[] = [];
  const endMessage = (): void => {
    if (content.length > 0) items.push({ type: 'message', role: 'assistant', content });
    content = [];
  };
  for (const part of parts) {
    if (part.type === 'text') content.push({ type: 'output_text', text: part.text });
    else if (part.type === 'refusal') content.push({ type: 'refusal', refusal: part.text });
    else {
      endMessage();
      const item = part.type === 'reasoning' ? reasoningOf(part) : callOf(part);
      if (item) items.push(item);
    }
  }
  endMessage();
  return items;
}

/** Reasoning that the vendor has encrypted; without that it takes none back. */
function reasoningOf({ sealed }: ReasoningPart): JsonObject | undefined {
  return sealed?.family === 'responses' ? encryptedItemOf(sealed.value) : undefined;
}

function callOf({ id, kind, name, arguments: text }: ToolCallPart): JsonObject {
  return kind === 'custom'
    ? { type: 'custom_tool_call', call_id: id, name, input: text }
    : { type: 'function_call', call_id: id, name, arguments: text };
}

function outputOf({ callId, parts }: ToolMessage, isCustom: boolean): JsonObject {
  const texts = parts.map((part) => (part.type === 'text' ? part.text : null));
  const isText = texts.every((text) => text !== null);
  return {
    type: isCustom ? 'custom_tool_call_output' : 'function_call_output',
    call_id: callId,
    output: isText ? texts.join('\n\n') : parts.map(inputPartOf),
  };
}

function inputPartOf(part: TextPart | ImagePart | AudioPart): JsonObject {
  switch (part.type) {
    case 'text':
      return { type: 'input_text', text: part.text };
    case 'image':
      return { type: 'input_image', image_url: part.url, detail: part.detail ?? 'auto' };
    case 'audio':
      return { type: 'input_audio', input_audio: { data: part.data, format: part.format } };
  }
}
