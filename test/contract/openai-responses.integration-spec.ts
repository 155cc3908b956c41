import { expect } from '@jest/globals';
import type { ProviderContext } from '../../src/providers/http/provider-context.js';
import { openAiPorts } from '../../src/providers/openai/openai-ports.js';
import type { AttemptContext } from '../../src/providers/ports/attempt.js';
import type { ChatPart } from '../../src/providers/ports/chat-parts.js';
import type { ChatCommand, ChatEvent } from '../../src/providers/ports/chat.port.js';
import type { Conversation } from '../../src/providers/ports/conversation.js';
import { foreignCommand } from '../support/chat-command.js';
import type { SeenRequest } from '../support/stub-upstream.js';
import {
  ENCRYPTED,
  responseBytes,
  RESPONSE_EVENTS,
  RESPONSE,
  RESPONSE_PARTS,
  RESPONSE_TOKENS,
} from './openai-response-wires.js';
import { describePortContract, describeRequest } from './port-contract.js';

const CAP = 300;
const SEALED = 'reasoning.encrypted_content';
const plain: Conversation = {
  messages: [{ role: 'user', parts: [{ type: 'text', text: 'Hé' }] }],
  tools: [],
  settings: {},
};
const native = (body: ChatCommand['native'], maxTokens = CAP): ChatCommand => ({
  protocol: 'responses',
  native: body,
  maxTokens,
  conversation: () => plain,
});
const at = (context: AttemptContext): AttemptContext => ({
  ...context,
  upstreamProtocol: 'responses',
});
const complete = (command: ChatCommand) => (access: ProviderContext, context: AttemptContext) =>
  openAiPorts(access).chat!.complete(command, at(context));
const stream =
  (command: ChatCommand) =>
  async (access: ProviderContext, context: AttemptContext): Promise<ChatEvent[]> => {
    const { body } = await openAiPorts(access).chat!.stream(command, at(context));
    const seen: ChatEvent[] = [];
    for await (const event of body) seen.push(event as ChatEvent);
    return seen;
  };
const expectSent = (body: object) => (request: SeenRequest) => {
  expect([request.method, request.url]).toEqual(['POST', '/responses']);
  expect(request.headers.authorization).toBe('Bearer sk-upstream-secret-4711');
  expect(JSON.parse(request.body.toString())).toEqual({
    model: 'upstream-model',
    max_output_tokens: CAP,
    store: false,
    include: [SEALED],
    ...body,
  });
};
const good = (seesNative: boolean) => ({
  type: 'application/json',
  body: Buffer.from(JSON.stringify(RESPONSE)),
  result: {
    answer: { parts: RESPONSE_PARTS, usage: RESPONSE_TOKENS, native: seesNative ? RESPONSE : null },
    providerRequestId: null,
  },
});
const user = { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hé' }] };

describePortContract('OpenAI responses', {
  run: complete(foreignCommand(plain, CAP)),
  good: good(false),
  expectRequest: expectSent({ input: [user] }),
});

describePortContract('OpenAI responses stream', {
  run: async (access, context) => {
    const events = await stream(foreignCommand(plain, CAP))(access, context);
    return {
      parts: joined(events.flatMap(({ parts }) => parts)),
      usage: events.at(-1)?.usage,
      natives: events.filter((event) => event.native !== null).length,
    };
  },
  good: {
    type: 'text/event-stream',
    body: responseBytes(RESPONSE_EVENTS),
    result: { parts: RESPONSE_PARTS, usage: RESPONSE_TOKENS, natives: 0 },
  },
  expectRequest: expectSent({ input: [user], stream: true }),
});

/** Neighbours of one kind as one part. */
function joined(parts: readonly ChatPart[]): object[] {
  return parts.reduce<ChatPart[]>((known, part) => {
    const last = known.at(-1);
    if (part.type === 'tool-arguments' && last?.type === part.type) {
      return [...known.slice(0, -1), { ...last, delta: last.delta + part.delta }];
    }
    if ((part.type === 'text' || part.type === 'reasoning') && last?.type === part.type) {
      return [...known.slice(0, -1), { ...last, text: last.text + part.text }];
    }
    return [...known, part];
  }, []);
}

describeRequest('OpenAI responses for a caller of the same protocol', {
  run: complete(native({ input: [user], reasoning: { effort: 'low', summary: 'auto' } })),
  good: good(true),
  expectRequest: expectSent({ input: [user], reasoning: { effort: 'low', summary: 'auto' } }),
});

describeRequest('OpenAI responses stream for a caller of the same protocol', {
  run: async (access, context) => {
    const events = await stream(native({ input: 'Hé', top_logprobs: 0 }, 5))(access, context);
    return events.map((event) => event.native);
  },
  good: {
    type: 'text/event-stream',
    body: responseBytes(RESPONSE_EVENTS),
    result: RESPONSE_EVENTS.slice(2),
  },
  expectRequest: expectSent({
    input: 'Hé',
    stream: true,
    // The vendor refuses a smaller cap.
    max_output_tokens: 16,
    top_logprobs: 0,
    include: [SEALED, 'message.output_text.logprobs'],
  }),
});

const schema = { type: 'object', properties: { city: { type: 'string' } } };
const everything: Conversation = {
  messages: [
    { role: 'system', parts: [{ type: 'text', text: 'Be brief.' }] },
    {
      role: 'user',
      parts: [
        { type: 'text', text: 'What is this?' },
        { type: 'image', url: 'https://example.com/a.png', detail: 'low', param: 'x' },
      ],
    },
    {
      role: 'assistant',
      parts: [
        {
          type: 'reasoning',
          text: 'I look.',
          sealed: {
            family: 'responses',
            value: { id: 'rs_1', summary: ['I look.'], encrypted_content: ENCRYPTED, model: 'x' },
          },
        },
        {
          type: 'reasoning',
          text: 'Signed by another vendor.',
          sealed: { family: 'messages', value: { signature: 'x' } },
        },
        { type: 'text', text: 'A ' },
        { type: 'text', text: 'cat.' },
        { type: 'tool-call', id: 'c1', kind: 'function', name: 'get_weather', arguments: '{}' },
        { type: 'tool-call', id: 'c2', kind: 'custom', name: 'patch', arguments: 'x' },
      ],
    },
    { role: 'tool', callId: 'c1', parts: [{ type: 'text', text: 'sunny' }] },
    {
      role: 'tool',
      callId: 'c2',
      parts: [{ type: 'image', url: 'data:image/png;base64,iVBORw0KGgo=' }],
    },
  ],
  tools: [
    { kind: 'function', name: 'get_weather', description: 'Weather', parameters: schema },
    {
      kind: 'custom',
      name: 'patch',
      format: { type: 'grammar', grammar: { syntax: 'lark', definition: 'start: X' } },
    },
  ],
  toolChoice: { kind: 'function', name: 'get_weather' },
  responseFormat: { type: 'json_schema', name: 'city', schema, strict: true },
  settings: {
    temperature: 0.5,
    topP: 0.9,
    stop: ['END'],
    seed: 7,
    thinkingBudgetTokens: 20_000,
    verbosity: 'low',
    parallelToolCalls: false,
    user: 'u1',
    promptCacheKey: 'k',
  },
};
describeRequest('OpenAI responses with everything', {
  run: complete(foreignCommand(everything, CAP)),
  good: good(false),
  expectRequest: expectSent({
    input: [
      { type: 'message', role: 'system', content: [{ type: 'input_text', text: 'Be brief.' }] },
      {
        type: 'message',
        role: 'user',
        content: [
          { type: 'input_text', text: 'What is this?' },
          { type: 'input_image', image_url: 'https://example.com/a.png', detail: 'low' },
        ],
      },
      {
        type: 'reasoning',
        id: 'rs_1',
        summary: [{ type: 'summary_text', text: 'I look.' }],
        encrypted_content: ENCRYPTED,
      },
      {
        type: 'message',
        role: 'assistant',
        content: [
          { type: 'output_text', text: 'A ' },
          { type: 'output_text', text: 'cat.' },
        ],
      },
      { type: 'function_call', call_id: 'c1', name: 'get_weather', arguments: '{}' },
      { type: 'custom_tool_call', call_id: 'c2', name: 'patch', input: 'x' },
      { type: 'function_call_output', call_id: 'c1', output: 'sunny' },
      {
        type: 'custom_tool_call_output',
        call_id: 'c2',
        output: [
          {
            type: 'input_image',
            image_url: 'data:image/png;base64,iVBORw0KGgo=',
            detail: 'auto',
          },
        ],
      },
    ],
    tools: [
      {
        type: 'function',
        name: 'get_weather',
        description: 'Weather',
        parameters: schema,
        strict: false,
      },
      {
        type: 'custom',
        name: 'patch',
        format: { type: 'grammar', syntax: 'lark', definition: 'start: X' },
      },
    ],
    tool_choice: { type: 'function', name: 'get_weather' },
    parallel_tool_calls: false,
    text: { format: { type: 'json_schema', name: 'city', schema, strict: true }, verbosity: 'low' },
    reasoning: { effort: 'high' },
    temperature: 0.5,
    top_p: 0.9,
    user: 'u1',
    prompt_cache_key: 'k',
  }),
});
