import { describe, expect, it } from '@jest/globals';
import type { ConversationMessage, ChatTool, Conversation } from '../ports/conversation.js';
import { messagesBody } from './messages-body.js';

const HELLO: ConversationMessage = { role: 'user', parts: [{ type: 'text', text: 'Hello' }] };

const bodyOf = (fields: Partial<Conversation>) =>
  messagesBody({ messages: [HELLO], tools: [], settings: {}, ...fields }, 4_000, new Set());
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
