import { expect } from '@jest/globals';
import { anthropicPorts } from '../../src/providers/anthropic/anthropic-ports.js';
import type { ProviderContext } from '../../src/providers/http/provider-context.js';
import type { AttemptContext } from '../../src/providers/ports/attempt.js';
import type { ChatCommand, ChatEvent } from '../../src/providers/ports/chat.port.js';
import type { SeenRequest } from '../support/stub-upstream.js';
import {
  MESSAGE_EVENTS,
  MESSAGE,
  MESSAGE_PARTS,
  native,
  neutral,
  joinedParts,
  STREAM,
  TOKENS,
  TOLD_TOKENS,
} from './anthropic-wires.js';
import { describePortContract, describeRequest } from './port-contract.js';

const expectSent = (body: object, beta?: string) => (request: SeenRequest) => {
  expect([request.method, request.url]).toEqual(['POST', '/v1/messages']);
  expect(request.headers).toMatchObject({
    'anthropic-version': '2023-06-01',
    'content-type': 'application/json',
    'x-api-key': 'sk-upstream-secret-4711',
  });
  expect(request.headers['anthropic-beta']).toBe(beta);
  expect(request.headers).not.toHaveProperty('authorization');
  expect(JSON.parse(request.body.toString())).toEqual(body);
};
const complete = (command: ChatCommand) => (access: ProviderContext, context: AttemptContext) =>
  anthropicPorts(access).chat!.complete(command, context);
const stream =
  (command: ChatCommand) =>
  async (access: ProviderContext, context: AttemptContext): Promise<ChatEvent[]> => {
    const { body } = await anthropicPorts(access).chat!.stream(command, context);
    const seen: ChatEvent[] = [];
    for await (const event of body) seen.push(event as ChatEvent);
    return seen;
  };
const json = (message: object) => ({
  type: 'application/json',
  body: Buffer.from(JSON.stringify(message)),
});

const user = { role: 'user', content: [{ type: 'text', text: 'Hé' }] };
describePortContract('Anthropic chat', {
  run: complete(neutral({ settings: { temperature: 0 } })),
  good: {
    ...json(MESSAGE),
    result: {
      answer: { parts: MESSAGE_PARTS, usage: TOKENS, native: null },
      providerRequestId: null,
    },
  },
  expectRequest: expectSent({
    model: 'upstream-model',
    max_tokens: 300,
    messages: [user],
    temperature: 0,
  }),
});

const said = {
  system: [{ type: 'text', text: 'x', cache_control: { type: 'ephemeral', ttl: '1h' } }],
  messages: [{ role: 'user', content: [{ type: 'novelty', data: 1 }] }],
  context_management: { edits: [] },
};
describePortContract('Anthropic chat of a caller of Messages', {
  run: complete(native(said)),
  good: {
    ...json(MESSAGE),
    result: {
      answer: { parts: MESSAGE_PARTS, usage: TOKENS, native: MESSAGE },
      providerRequestId: null,
    },
  },
  expectRequest: expectSent(
    { model: 'upstream-model', max_tokens: 300, ...said },
    'novelty-2026-01-01',
  ),
});

describePortContract('Anthropic chat stream', {
  run: async (access, context) => {
    const events = await stream(neutral())(access, context);
    expect(events.every(({ native: own }) => own === null)).toBe(true);
    const reports = events.flatMap(({ usage }) => usage ?? []);
    return { parts: joinedParts(events), reports };
  },
  good: {
    type: 'text/event-stream',
    body: STREAM,
    result: { parts: MESSAGE_PARTS, reports: [TOLD_TOKENS, TOKENS] },
  },
  expectRequest: expectSent({
    model: 'upstream-model',
    max_tokens: 300,
    messages: [user],
    stream: true,
  }),
});

describePortContract('Anthropic chat stream of a caller of Messages', {
  run: async (access, context) => {
    const events = await stream(native())(access, context);
    const [first] = events;
    return {
      natives: events.map(({ native: own }) => own),
      parts: joinedParts(events),
      told: first?.usage,
    };
  },
  good: {
    type: 'text/event-stream',
    body: STREAM,
    result: {
      natives: MESSAGE_EVENTS.filter(({ type }) => type !== 'ping'),
      parts: MESSAGE_PARTS,
      told: TOLD_TOKENS,
    },
  },
  expectRequest: expectSent(
    {
      model: 'upstream-model',
      max_tokens: 300,
      messages: [{ role: 'user', content: 'Hé' }],
      stream: true,
    },
    'novelty-2026-01-01',
  ),
});

const customCall = {
  type: 'tool_use',
  id: 'toolu_1',
  name: 'patch',
  input: { input: '*** Begin' },
};
describeRequest('Anthropic chat with a custom tool', {
  run: complete(neutral({ tools: [{ kind: 'custom', name: 'patch' }] })),
  good: {
    ...json({ ...MESSAGE, content: [customCall], stop_reason: 'tool_use', usage: null }),
    result: {
      answer: {
        parts: [
          { type: 'tool-call', index: 0, id: 'toolu_1', kind: 'custom', name: 'patch' },
          { type: 'tool-arguments', index: 0, delta: '*** Begin' },
          { type: 'tool-end', index: 0 },
          { type: 'finish', reason: 'tool_calls' },
        ],
        usage: null,
        native: null,
      },
      providerRequestId: null,
    },
  },
  expectRequest: ({ body }) => {
    expect(JSON.parse(body.toString())).toMatchObject({
      tools: [{ name: 'patch', input_schema: { properties: { input: { type: 'string' } } } }],
    });
  },
});
