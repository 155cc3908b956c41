import { expect } from '@jest/globals';
import { openAiPorts } from '../../src/providers/openai/openai-ports.js';
import type { ChatEvent } from '../../src/providers/ports/chat.port.js';
import { chatCommand, seenOf } from '../support/chat-command.js';
import { describePortContract, describeRequest } from './port-contract.js';
import type { SeenRequest } from '../support/stub-upstream.js';

const expectJson = (path: string, body: object) => (request: SeenRequest) => {
  expect([request.method, request.url]).toEqual(['POST', path]);
  expect(JSON.parse(request.body.toString())).toEqual(body);
};
const messages = [
  { role: 'system', content: 'Be brief.' },
  { role: 'user', content: 'Hé' },
];
const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 };

const completion = { id: 'c1', choices: [{ index: 0, message: { content: 'Hi' } }], usage };
describePortContract('OpenAI chat', {
  run: async (access, context) => {
    const command = chatCommand({ messages, temperature: 0 }, 5);
    const { answer, providerRequestId } = await openAiPorts(access).chat!.complete(
      command,
      context,
    );
    return { ...seenOf(answer), providerRequestId };
  },
  good: {
    type: 'application/json',
    body: Buffer.from(JSON.stringify(completion)),
    result: {
      native: completion,
      usage: { promptTokens: 3, completionTokens: 2, cachedTokens: null, reasoningTokens: null },
      providerRequestId: null,
    },
  },
  expectRequest: expectJson('/chat/completions', {
    model: 'upstream-model',
    messages,
    max_tokens: 5,
    temperature: 0,
  }),
});

const chunks = [
  { id: 'c1', choices: [{ index: 0, delta: { role: 'assistant' } }], usage: null },
  { id: 'c1', choices: [{ index: 0, delta: { content: 'Hé 👋' } }], usage: null },
  { id: 'c1', choices: [], usage },
];
const events = chunks.map((chunk) => `: keep-alive\n\ndata: ${JSON.stringify(chunk)}\n\n`);
describePortContract('OpenAI chat stream', {
  run: async (access, context) => {
    const { body } = await openAiPorts(access).chat!.stream(chatCommand({ messages }, 5), context);
    const seen: unknown[] = [];
    for await (const event of body) seen.push(seenOf(event as ChatEvent));
    return seen;
  },
  good: {
    type: 'text/event-stream',
    body: Buffer.from(`${events.join('')}data: [DONE]\n\n`),
    result: [
      { native: chunks[0], usage: null },
      { native: chunks[1], usage: null },
      {
        native: chunks[2],
        usage: { promptTokens: 3, completionTokens: 2, cachedTokens: null, reasoningTokens: null },
      },
    ],
  },
  expectRequest: expectJson('/chat/completions', {
    model: 'upstream-model',
    messages,
    max_tokens: 5,
    stream: true,
    stream_options: { include_usage: true },
  }),
});

const base64 = Buffer.alloc(6_000_000, 7).toString('base64');
describePortContract('OpenAI images', {
  run: (access, context) =>
    openAiPorts(access).image!.generateImage({ prompt: 'a cat', size: '1024x1024' }, context),
  good: {
    type: 'application/json',
    body: Buffer.from(JSON.stringify({ created: 1, data: [{ b64_json: base64 }] })),
    result: { images: [{ base64 }], providerRequestId: null },
  },
  expectRequest: expectJson('/images/generations', {
    model: 'upstream-model',
    prompt: 'a cat',
    n: 1,
    size: '1024x1024',
  }),
});

describeRequest('OpenAI images by URL', {
  run: (access, context) => openAiPorts(access).image!.generateImage({ prompt: 'a cat' }, context),
  good: {
    type: 'application/json',
    body: Buffer.from(JSON.stringify({ data: [{ url: 'https://cdn.example/cat.png' }] })),
    result: { images: [{ url: 'https://cdn.example/cat.png' }], providerRequestId: null },
  },
  expectRequest: expectJson('/images/generations', {
    model: 'upstream-model',
    prompt: 'a cat',
    n: 1,
  }),
});
