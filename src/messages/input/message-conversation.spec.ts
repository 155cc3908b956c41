import { describe, expect, it } from '@jest/globals';
import { conversationOfBody } from './message-conversation.js';

const of = (fields: object) =>
  conversationOfBody({ model: 'm', stream: false, messages: [], ...fields });
const turns = (...messages: object[]) => of({ messages }).messages;
const PNG = { type: 'base64', media_type: 'image/png', data: 'AAAA' };
const TOOLS = [{ name: 'get_weather', input_schema: { type: 'object' } }];

describe('the turns of a conversation', () => {
  it('begin with the system, and may have another one later', () => {
    expect(
      of({
        system: [
          { type: 'text', text: 'A' },
          { type: 'text', text: 'B', cache_control: { type: 'ephemeral', ttl: '1h' } },
        ],
        messages: [
          { role: 'user', content: 'Hi' },
          { role: 'system', content: 'C' },
        ],
      }).messages,
    ).toEqual([
      {
        role: 'system',
        parts: [
          { type: 'text', text: 'A' },
          { type: 'text', text: 'B', cache: '1h' },
        ],
      },
      { role: 'user', parts: [{ type: 'text', text: 'Hi' }] },
      { role: 'system', parts: [{ type: 'text', text: 'C' }] },
    ]);
    expect(of({ system: '' }).messages).toEqual([]);
  });

  it('put the results of tools before the rest of their turn', () => {
    const result = (id: string, more: object) => ({
      type: 'tool_result',
      tool_use_id: id,
      ...more,
    });
    const told = turns({
      role: 'user',
      content: [
        { type: 'text', text: 'Well?' },
        result('a', { content: 'sunny', cache_control: { type: 'ephemeral' } }),
        result('b', { content: [{ type: 'image', source: PNG }], is_error: true }),
        result('c', {}),
      ],
    });
    expect(told).toEqual([
      { role: 'tool', callId: 'a', parts: [{ type: 'text', text: 'sunny', cache: '5m' }] },
      {
        role: 'tool',
        callId: 'b',
        parts: [{ type: 'image', url: 'data:image/png;base64,AAAA' }],
        isError: true,
      },
      { role: 'tool', callId: 'c', parts: [] },
      { role: 'user', parts: [{ type: 'text', text: 'Well?' }] },
    ]);
  });

  it('are no turn of the user where there are results only', () => {
    const content = [{ type: 'tool_result', tool_use_id: 'a', content: 'sunny' }];
    expect(turns({ role: 'user', content }).map(({ role }) => role)).toEqual(['tool']);
  });

  it('name the place of an image that is fetched', () => {
    const image = { type: 'image', source: { type: 'url', url: 'https://a.b/c.png' } };
    const content = [{ type: 'text', text: 'Look' }, image];
    expect(turns({ role: 'user', content })[0]!.parts[1]).toEqual({
      type: 'image',
      url: 'https://a.b/c.png',
      param: 'messages.0.content.1.source.url',
    });
  });

  it.each<[string, object, string]>([
    ['a text', { source: { type: 'text', data: 'Body' }, title: 'T', context: 'C' }, 'T\nC\nBody'],
    ['a content', { source: { type: 'content', content: 'Body' } }, 'Body'],
    [
      'blocks',
      {
        source: {
          type: 'content',
          content: [
            { type: 'text', text: 'A' },
            { type: 'text', text: 'B' },
          ],
        },
      },
      'A\nB',
    ],
    [
      'a result of a search',
      {
        type: 'search_result',
        source: 'https://a.b',
        title: 'T',
        content: [{ type: 'text', text: 'A' }],
      },
      'T\nhttps://a.b\nA',
    ],
  ])('have documents as texts: %s', (_what, document, text) => {
    const content = [{ type: 'document', ...document }];
    expect(turns({ role: 'user', content })).toEqual([
      { role: 'user', parts: [{ type: 'text', text }] },
    ]);
  });

  it('have calls, and thoughts with their seal where a vendor signed them', () => {
    const signed = { type: 'thinking', thinking: 'Hm', signature: 's' };
    const hidden = { type: 'redacted_thinking', data: 'd' };
    const content = [
      signed,
      { type: 'thinking', thinking: 'Ha', signature: '' },
      hidden,
      { type: 'text', text: 'Hi' },
      { type: 'tool_use', id: 'a', name: 'get_weather', input: { city: 'Graz' } },
    ];
    expect(turns({ role: 'assistant', content })[0]!.parts).toEqual([
      { type: 'reasoning', text: 'Hm', sealed: { family: 'messages', value: signed } },
      { type: 'reasoning', text: 'Ha' },
      { type: 'reasoning', text: '', sealed: { family: 'messages', value: hidden } },
      { type: 'text', text: 'Hi' },
      {
        type: 'tool-call',
        kind: 'function',
        id: 'a',
        name: 'get_weather',
        arguments: '{"city":"Graz"}',
      },
    ]);
  });
});

describe('what a message asks besides', () => {
  it.each<[object, unknown]>([
    [{ type: 'auto' }, 'auto'],
    [{ type: 'any' }, 'required'],
    [{ type: 'none' }, 'none'],
    [
      { type: 'tool', name: 'get_weather' },
      { kind: 'function', name: 'get_weather' },
    ],
  ])('is the choice of a tool: %j', (choice, told) => {
    expect(of({ tools: TOOLS, tool_choice: choice }).toolChoice).toEqual(told);
    expect(of({ tool_choice: choice })).not.toHaveProperty('toolChoice');
  });

  it('are its tools, its form and its settings', () => {
    const { tools, responseFormat, settings } = of({
      tools: [{ ...TOOLS[0], description: 'Tells it', strict: true }],
      tool_choice: { type: 'auto', disable_parallel_tool_use: true },
      output_config: { effort: 'low', format: { type: 'json_schema', schema: { type: 'object' } } },
      ...{ temperature: 0.5, top_p: 0.9, top_k: 5, stop_sequences: ['END'] },
      thinking: { type: 'enabled', budget_tokens: 2_000 },
      metadata: { user_id: 'u' },
    });
    expect(tools).toEqual([
      {
        kind: 'function',
        name: 'get_weather',
        parameters: { type: 'object' },
        description: 'Tells it',
        strict: true,
      },
    ]);
    expect(responseFormat).toMatchObject({ type: 'json_schema', schema: { type: 'object' } });
    expect(settings).toEqual({
      ...{ temperature: 0.5, topP: 0.9, topK: 5, stop: ['END'] },
      reasoningEffort: 'low',
      thinkingBudgetTokens: 2_000,
      parallelToolCalls: false,
      user: 'u',
    });
  });

  it('is no thinking where that is disabled, and the default where it is adaptive', () => {
    expect(of({ thinking: { type: 'disabled' } }).settings.thinkingBudgetTokens).toBe(0);
    expect(of({ thinking: { type: 'adaptive' } }).settings.thinkingBudgetTokens).toBeUndefined();
    expect(of({ stop_sequences: [] }).settings.stop).toBeUndefined();
  });
});
