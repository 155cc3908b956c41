import { expect } from '@jest/globals';
import { geminiPorts } from '../../src/providers/gemini/gemini-ports.js';
import type { ChatPart } from '../../src/providers/ports/chat-parts.js';
import type { ChatEvent } from '../../src/providers/ports/chat.port.js';
import type { Conversation } from '../../src/providers/ports/conversation.js';
import { foreignCommand } from '../support/chat-command.js';
import type { SeenRequest } from '../support/stub-upstream.js';
import { COUNTED, eventBytes, EVENTS, said, SIGNATURE, USAGE } from './gemini-wires.js';
import { describePortContract, describeRequest, type PortContract } from './port-contract.js';

const CAP = 500;
const ASK = { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] };
const plain: Conversation = {
  messages: [{ role: 'user', parts: [{ type: 'text', text: 'Hi' }] }],
  tools: [],
  settings: {},
};

/** Parts without the ids that the gateway makes. */
const toldOf = ({ parts, usage }: ChatEvent) => ({
  parts: parts.map((part) => (part.type === 'tool-call' ? { ...part, id: idOf(part) } : part)),
  usage,
});
const idOf = ({ id }: Extract<ChatPart, { type: 'tool-call' }>): string =>
  /^call_[0-9a-f]{32}$/.test(id) ? 'made' : id;

const completes = (conversation: Conversation): PortContract['run'] => {
  return async (access, context) => {
    const chat = geminiPorts(access).chat!;
    const result = await chat.complete(foreignCommand(conversation, CAP), context);
    return { ...toldOf(result.answer), native: result.answer.native };
  };
};
const streams = (conversation: Conversation): PortContract['run'] => {
  return async (access, context) => {
    const chat = geminiPorts(access).chat!;
    const { body } = await chat.stream(foreignCommand(conversation, CAP), context);
    const events: ReturnType<typeof toldOf>[] = [];
    for await (const event of body) events.push(toldOf(event as ChatEvent));
    return events;
  };
};
const json = (answer: object, result: object) => ({
  type: 'application/json; charset=UTF-8',
  body: Buffer.from(JSON.stringify(answer)),
  result: { native: null, ...result },
});
const answered = (text = 'Hello.') =>
  json(said({ parts: [{ text }], finishReason: 'STOP', usage: USAGE }), {
    parts: [
      { type: 'text', text },
      { type: 'finish', reason: 'stop' },
    ],
    usage: COUNTED,
  });
const expectJson =
  (method: string, body: object, config: object = {}): PortContract['expectRequest'] =>
  (request: SeenRequest) => {
    expect([request.method, request.url]).toEqual(['POST', `/models/upstream-model:${method}`]);
    expect(JSON.parse(request.body.toString())).toEqual({
      ...body,
      generationConfig: { maxOutputTokens: CAP, ...config },
    });
  };
const sent = (body: object, config?: object) => expectJson('generateContent', body, config);

describePortContract('Gemini chat', {
  run: completes(plain),
  good: answered(),
  expectRequest: sent(ASK),
});

const call = (index: number, id: string, city: string, sealed?: object) => [
  { type: 'tool-call', index, id, kind: 'function', name: 'get_weather', sealed },
  { type: 'tool-arguments', index, delta: JSON.stringify({ city }) },
  { type: 'tool-end', index },
];
const sealed = { family: 'gemini', value: { thoughtSignature: SIGNATURE } };
describePortContract('Gemini chat stream', {
  run: streams(plain),
  good: {
    type: 'text/event-stream',
    body: eventBytes(EVENTS),
    result: [
      {
        parts: [{ type: 'reasoning', text: '**Looking' }],
        usage: {
          promptTokens: 200,
          completionTokens: 0,
          cachedTokens: null,
          reasoningTokens: null,
        },
      },
      { parts: [{ type: 'reasoning', text: ' it up**' }], usage: null },
      { parts: [{ type: 'text', text: 'Hé ' }], usage: null },
      { parts: [{ type: 'text', text: '👋' }], usage: null },
      { parts: [...call(0, 'made', 'Graz', sealed), ...call(1, 'fc-2', 'Linz')], usage: null },
      { parts: [{ type: 'finish', reason: 'tool_calls' }], usage: COUNTED },
    ],
  },
  expectRequest: expectJson('streamGenerateContent?alt=sse', ASK),
});

const schema = { type: 'object', properties: { city: { type: 'string' } } };
const pixel = 'iVBORw0KGgo=';
const everything: Conversation = {
  messages: [
    { role: 'system', parts: [{ type: 'text', text: 'Be brief.' }] },
    { role: 'developer', parts: [{ type: 'text', text: 'Be kind.' }] },
    {
      role: 'user',
      parts: [
        { type: 'text', text: 'What is this?' },
        { type: 'image', url: `data:image/webp;base64,${pixel}` },
        { type: 'audio', data: 'UklGRg==', format: 'wav' },
      ],
    },
  ],
  tools: [
    { kind: 'function', name: 'get_weather', description: 'Weather', parameters: schema },
    { kind: 'custom', name: 'patch', description: 'Edits', format: { definition: 'start: X' } },
  ],
  toolChoice: { kind: 'function', name: 'get_weather' },
  responseFormat: { type: 'json_schema', name: 'city', schema },
  settings: {
    temperature: 0.5,
    topP: 0.9,
    topK: 40,
    stop: ['END'],
    seed: 2 ** 31 + 7,
    presencePenalty: 0.1,
    frequencyPenalty: 0.2,
    reasoningEffort: 'high',
    user: 'u1',
    promptCacheKey: 'k',
  },
};
describeRequest('Gemini chat with everything', {
  run: completes(everything),
  good: answered(),
  expectRequest: sent(
    {
      systemInstruction: { parts: [{ text: 'Be brief.' }, { text: 'Be kind.' }] },
      contents: [
        {
          role: 'user',
          parts: [
            { text: 'What is this?' },
            { inlineData: { mimeType: 'image/webp', data: pixel } },
            { inlineData: { mimeType: 'audio/wav', data: 'UklGRg==' } },
          ],
        },
      ],
      tools: [
        {
          functionDeclarations: [
            { name: 'get_weather', description: 'Weather', parametersJsonSchema: schema },
            {
              name: 'patch',
              description: 'Edits\n\nThe input has this form:\nstart: X',
              parametersJsonSchema: {
                type: 'object',
                properties: { input: { type: 'string' } },
                required: ['input'],
              },
            },
          ],
        },
      ],
      toolConfig: {
        functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['get_weather'] },
      },
    },
    {
      temperature: 0.5,
      topP: 0.9,
      topK: 40,
      stopSequences: ['END'],
      seed: 7,
      presencePenalty: 0.1,
      frequencyPenalty: 0.2,
      responseMimeType: 'application/json',
      responseJsonSchema: schema,
      thinkingConfig: { thinkingLevel: 'high', includeThoughts: true },
    },
  ),
});

describeRequest('Gemini chat of instructions alone, thinking off', {
  run: completes({
    messages: [{ role: 'system', parts: [{ type: 'text', text: 'Hi' }] }],
    tools: [],
    responseFormat: { type: 'json_object' },
    settings: { thinkingBudgetTokens: 0, stop: [] },
  }),
  good: answered(),
  expectRequest: sent(ASK, {
    responseMimeType: 'application/json',
    thinkingConfig: { thinkingLevel: 'low', includeThoughts: false },
  }),
});

describeRequest('Gemini chat that calls a custom tool', {
  run: completes({ ...plain, tools: [{ kind: 'custom', name: 'patch' }], toolChoice: 'required' }),
  good: json(
    said({
      parts: [
        { text: 'I will.', thoughtSignature: SIGNATURE },
        { functionCall: { id: 'fc-1', name: 'patch', args: { input: '*** Begin' } } },
      ],
      finishReason: 'STOP',
    }),
    {
      parts: [
        { type: 'reasoning-sealed', ...sealed },
        { type: 'text', text: 'I will.' },
        { type: 'tool-call', index: 0, id: 'fc-1', kind: 'custom', name: 'patch' },
        { type: 'tool-arguments', index: 0, delta: '*** Begin' },
        { type: 'tool-end', index: 0 },
        { type: 'finish', reason: 'tool_calls' },
      ],
      usage: null,
    },
  ),
  expectRequest: sent({
    ...ASK,
    tools: [
      {
        functionDeclarations: [
          {
            name: 'patch',
            parametersJsonSchema: {
              type: 'object',
              properties: { input: { type: 'string' } },
              required: ['input'],
            },
          },
        ],
      },
    ],
    toolConfig: { functionCallingConfig: { mode: 'ANY' } },
  }),
});
