import { describe, expect, it } from '@jest/globals';
import type { ConversationMessage, ChatTool, Conversation } from '../ports/conversation.js';
import { messagesBody } from './messages-body.js';
import type { ModelSetting } from './refused-settings.js';

const HELLO: ConversationMessage = { role: 'user', parts: [{ type: 'text', text: 'Hello' }] };

const bodyOf = (
  fields: Partial<Conversation>,
  maxTokens = 4_000,
  refused: readonly ModelSetting[] = [],
) =>
  messagesBody(
    { messages: [HELLO], tools: [], settings: {}, ...fields },
    maxTokens,
    new Set(refused),
  );
const turnsFor = (...messages: ConversationMessage[]) => bodyOf({ messages }).messages;
const says = (text: string): ConversationMessage => ({
  role: 'user',
  parts: [{ type: 'text', text }],
});
const call = (id: string, text: string, kind: 'function' | 'custom' = 'function') =>
  ({ type: 'tool-call', id, kind, name: 'look', arguments: text }) as const;
const answers = (callId: string, text: string): ConversationMessage => ({
  role: 'tool',
  callId,
  parts: [{ type: 'text', text }],
});
const text = (words: string) => ({ type: 'text', text: words });
const result = (id: string, words: string) => ({
  type: 'tool_result',
  tool_use_id: id,
  content: [text(words)],
});

describe('the turns of a Messages request', () => {
  it('take system messages out, and merge neighbours of one role', () => {
    const body = bodyOf({
      messages: [
        { role: 'system', parts: [{ type: 'text', text: 'Be brief.', cache: '1h' }] },
        says('One'),
        { role: 'developer', parts: [{ type: 'text', text: 'And polite.' }] },
        says('Two'),
        { role: 'assistant', parts: [{ type: 'text', text: 'Yes' }] },
        { role: 'assistant', parts: [{ type: 'refusal', text: 'No' }] },
        says('Three'),
      ],
    });
    expect(body).toEqual({
      max_tokens: 4_000,
      system: [
        { ...text('Be brief.'), cache_control: { type: 'ephemeral', ttl: '1h' } },
        text('And polite.'),
      ],
      messages: [
        { role: 'user', content: [text('One'), text('Two')] },
        { role: 'assistant', content: [text('Yes'), text('No')] },
        { role: 'user', content: [text('Three')] },
      ],
    });
  });

  it('put the results of tools first, and give their ids the form that the vendor takes', () => {
    expect(
      turnsFor(
        HELLO,
        { role: 'assistant', parts: [call('call.1', '{"a":1}'), call('call/1', '')] },
        says('Wait'),
        answers('call.1', 'first'),
        { ...answers('call/1', ''), isError: true } as ConversationMessage,
      ),
    ).toEqual([
      { role: 'user', content: [text('Hello')] },
      {
        role: 'assistant',
        content: [
          { type: 'tool_use', id: 'call_1', name: 'look', input: { a: 1 } },
          { type: 'tool_use', id: 'call_1_2', name: 'look', input: {} },
        ],
      },
      {
        role: 'user',
        content: [
          result('call_1', 'first'),
          { type: 'tool_result', tool_use_id: 'call_1_2', is_error: true },
          text('Wait'),
        ],
      },
    ]);
  });

  it.each([
    ['{"a":', { arguments: '{"a":' }],
    ['[1]', { arguments: '[1]' }],
    [' ', {}],
  ])('pass arguments that are no object as a field: %s', (written, input) => {
    const [, turn] = turnsFor(HELLO, {
      role: 'assistant',
      parts: [call('a', written)],
    }) as [object, { content: object[] }];
    expect(turn.content).toEqual([{ type: 'tool_use', id: 'a', name: 'look', input }]);
  });

  it('begin with the user, and hold no blank text', () => {
    expect(turnsFor({ role: 'assistant', parts: [{ type: 'text', text: 'Hi \n' }] })).toEqual([
      { role: 'user', content: [text('.')] },
      { role: 'assistant', content: [text('Hi')] },
    ]);
    expect(turnsFor(says(' \n'), { role: 'assistant', parts: [] })).toEqual([
      { role: 'user', content: [text('.')] },
    ]);
  });

  it('carry images as bytes or as an address', () => {
    const image = (url: string) => ({ type: 'image', url }) as const;
    const parts = [image('data:image/jpg;base64,AAAA'), image('https://a.example/b.png')];
    expect(turnsFor({ role: 'user', parts })).toEqual([
      {
        role: 'user',
        content: [
          {
            type: 'image',
            source: { type: 'base64', media_type: 'image/jpeg', data: 'AAAA' },
          },
          { type: 'image', source: { type: 'url', url: 'https://a.example/b.png' } },
        ],
      },
    ]);
  });

  it("give back the vendor's own thoughts, and leave out those of others", () => {
    const thought = { type: 'thinking', thinking: 'Hm', signature: 's' };
    const sealed = (value: Readonly<Record<string, unknown>>) =>
      ({ type: 'reasoning', text: '', sealed: { family: 'messages', value } }) as const;
    const parts = [
      sealed({ ...thought, more: 1 }),
      { type: 'reasoning', text: 'Other', sealed: { family: 'responses', value: { a: 1 } } },
      { type: 'reasoning', text: 'Plain' },
      sealed({ type: 'redacted_thinking', data: 'd', cache_control: {} }),
      sealed({ type: 'document', source: { type: 'url', url: 'https://a.example/b.pdf' } }),
      sealed({ type: 'thinking', thinking: 5 }),
      { type: 'text', text: 'Yes' },
    ] as const;
    const [, turn] = turnsFor(HELLO, { role: 'assistant', parts }, HELLO) as [
      object,
      { content: object[] },
    ];
    expect(turn.content).toEqual([thought, { type: 'redacted_thinking', data: 'd' }, text('Yes')]);
  });

  it('keep the last four marks of the prompt cache, also those of tools', () => {
    const marked = (words: string) => ({ type: 'text', text: words, cache: '5m' }) as const;
    const tool: ChatTool = { kind: 'function', name: 'f', cache: '5m' };
    const messages: ConversationMessage[] = [
      { role: 'system', parts: [marked('a')] },
      { role: 'user', parts: [marked('b'), marked('c')] },
      { role: 'tool', callId: 'x', parts: [marked('d')] },
    ];
    const mark = { cache_control: { type: 'ephemeral' } };
    expect(bodyOf({ messages, tools: [tool] })).toMatchObject({
      tools: [{ name: 'f', input_schema: { type: 'object' } }],
      system: [{ ...text('a'), ...mark }],
      messages: [
        {
          content: [
            { ...result('x', 'd'), ...mark },
            { ...text('b'), ...mark },
            { ...text('c'), ...mark },
          ],
        },
      ],
    });
    expect(JSON.stringify(bodyOf({ messages, tools: [tool] }).tools)).not.toContain('cache');
  });
});

describe('the settings of a Messages request', () => {
  const tools: ChatTool[] = [
    { kind: 'function', name: 'f', description: 'd', parameters: { properties: {} }, strict: true },
    { kind: 'custom', name: 'g' },
  ];

  it('carry tools of both kinds, with the choice among them', () => {
    const choice = (toolChoice: Conversation['toolChoice'], parallelToolCalls?: boolean) =>
      bodyOf({ tools, toolChoice, settings: { parallelToolCalls } }).tool_choice;
    expect(bodyOf({ tools }).tools).toEqual([
      {
        name: 'f',
        description: 'd',
        input_schema: { type: 'object', properties: {} },
        strict: true,
      },
      {
        name: 'g',
        input_schema: {
          type: 'object',
          properties: { input: { type: 'string' } },
          required: ['input'],
        },
      },
    ]);
    expect(choice('auto')).toBeUndefined();
    expect(choice('none', false)).toEqual({ type: 'none' });
    expect(choice('required')).toEqual({ type: 'any' });
    expect(choice({ kind: 'custom', name: 'g' })).toEqual({ type: 'tool', name: 'g' });
    expect(choice(undefined, false)).toEqual({ type: 'auto', disable_parallel_tool_use: true });
    expect(bodyOf({ toolChoice: 'none' })).not.toHaveProperty('tool_choice');
  });

  it('carry what the protocol knows, within its bounds', () => {
    const settings = {
      temperature: 1.7,
      topP: 0.5,
      topK: 3,
      stop: ['END', '\n'],
      seed: 1,
      user: 'u',
      safetyIdentifier: 's',
    };
    expect(bodyOf({ settings })).toMatchObject({
      temperature: 1,
      top_k: 3,
      stop_sequences: ['END'],
      metadata: { user_id: 's' },
    });
    expect(bodyOf({ settings })).not.toHaveProperty('top_p');
    expect(bodyOf({ settings }, 10, ['sampling'])).not.toHaveProperty('temperature');
    const schema = { type: 'object' };
    const responseFormat = { type: 'json_schema', name: 'n', schema } as const;
    expect(bodyOf({ responseFormat }).output_config).toEqual({
      format: { type: 'json_schema', schema },
    });
    expect(bodyOf({ responseFormat: { type: 'json_object' } })).not.toHaveProperty('output_config');
  });

  it.each<[string, Partial<Conversation>, number, ModelSetting[], object | undefined]>([
    ['an effort', { settings: { reasoningEffort: 'high' } }, 900, [], { type: 'adaptive' }],
    ['no effort', { settings: { reasoningEffort: 'none' } }, 9_000, [], undefined],
    ['nothing', {}, 9_000, [], undefined],
    [
      'an effort, of a model that knows none',
      { settings: { reasoningEffort: 'low' } },
      9_000,
      ['effort'],
      { type: 'enabled', budget_tokens: 2_048 },
    ],
    [
      'a budget',
      { settings: { thinkingBudgetTokens: 9_000 } },
      4_000,
      [],
      { type: 'enabled', budget_tokens: 3_200 },
    ],
    [
      'a budget that the cap leaves no room for',
      { settings: { thinkingBudgetTokens: 9_000 } },
      1_200,
      [],
      { type: 'adaptive' },
    ],
    [
      'a budget, of a model that thinks by effort only',
      { settings: { thinkingBudgetTokens: 9_000, reasoningEffort: 'max' } },
      4_000,
      ['budget'],
      { type: 'adaptive' },
    ],
    [
      'an effort beside a tool that must be called',
      { settings: { reasoningEffort: 'high' }, toolChoice: 'required' },
      9_000,
      [],
      undefined,
    ],
    [
      'a budget within a turn whose thoughts are lost',
      {
        settings: { thinkingBudgetTokens: 2_000 },
        messages: [HELLO, { role: 'assistant', parts: [call('a', '{}')] }, answers('a', 'b')],
      },
      9_000,
      [],
      { type: 'adaptive' },
    ],
  ])('ask for thinking where the caller names %s', (_what, fields, cap, refused, thinking) => {
    expect(bodyOf(fields, cap, refused).thinking).toEqual(thinking);
  });

  it('send no sampling beside thinking', () => {
    const settings = { temperature: 0, reasoningEffort: 'minimal' };
    expect(bodyOf({ settings })).toMatchObject({ output_config: { effort: 'low' } });
    expect(bodyOf({ settings })).not.toHaveProperty('temperature');
  });
});
