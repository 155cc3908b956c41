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
        messages: [
          HELLO,
          {
            role: 'assistant',
            parts: [
              { type: 'tool-call', id: 'a', kind: 'function', name: 'look', arguments: '{}' },
            ],
          },
          { role: 'tool', callId: 'a', parts: [{ type: 'text', text: 'b' }] },
        ],
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
