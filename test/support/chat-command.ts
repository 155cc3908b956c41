import type { JsonObject } from '../../src/common/json-object.js';
import type { ChatCommand, ChatEvent } from '../../src/providers/ports/chat.port.js';
import type { Conversation } from '../../src/providers/ports/conversation.js';

const noConversation = (): Conversation => {
  throw new Error('the vendor speaks the protocol of the caller');
};

/** A command of the chat face, as the vendor of that protocol gets it. */
export function chatCommand(native: JsonObject, maxTokens: number): ChatCommand {
  return { protocol: 'chat', native, maxTokens, conversation: noConversation };
}

/** A command of another face, which a vendor of chat completions gets in parts. */
export function foreignCommand(conversation: Conversation, maxTokens: number): ChatCommand {
  return { protocol: 'messages', native: {}, maxTokens, conversation: () => conversation };
}

/** What tests compare of an event. */
export function seenOf({ native, usage }: ChatEvent) {
  return { native, usage };
}
