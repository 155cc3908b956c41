import { describe, expect, it } from '@jest/globals';
import type { ConversationMessage, Conversation, ToolCallPart } from '../ports/conversation.js';
import { chatBodyOf } from './conversation-body.js';

const bodyOf = (fields: Partial<Conversation>) =>
  JSON.parse(
    JSON.stringify(chatBodyOf({ messages: [], tools: [], settings: {}, ...fields })),
  ) as Record<string, unknown>;
const messagesOf = (...messages: ConversationMessage[]) => bodyOf({ messages }).messages;
const text = (value: string) => ({ type: 'text', text: value }) as const;
const call = (id: string, fields: Partial<ToolCallPart> = {}): ConversationMessage => ({
  role: 'assistant',
  parts: [{ type: 'tool-call', id, kind: 'function', name: 'f', arguments: '{}', ...fields }],
});
const image = { type: 'image', url: 'data:image/png;base64,AAAA', param: 'input.0' } as const;

describe('a conversation as chat messages', () => {
  it('has system text, users, and answers without their reasoning', () => {
    expect(
      messagesOf(
        { role: 'developer', parts: [text('Be brief.'), text('Be kind.')] },
        { role: 'user', parts: [text('Hi'), image], name: 'Ann' },
        {
          role: 'assistant',
          parts: [{ type: 'reasoning', text: 'hm' }, text('Hello'), text(' you')],
        },
        { role: 'user', parts: [text('Go on')] },
      ),
    ).toEqual([
      { role: 'system', content: 'Be brief.\n\nBe kind.' },
      {
        role: 'user',
        content: [text('Hi'), { type: 'image_url', image_url: { url: image.url } }],
        name: 'Ann',
      },
      { role: 'assistant', content: 'Hello you' },
      { role: 'user', content: 'Go on' },
    ]);
  });

  it('has neighbouring calls in one assistant message, and their results as tool messages', () => {
    const messages = messagesOf(
      { role: 'assistant', parts: [text('Let me look.')] },
      call('a'),
      call('b', { kind: 'custom', arguments: 'in' }),
      { role: 'tool', callId: 'a', parts: [text('1'), image] },
      { role: 'tool', callId: 'b', parts: [text('2')] },
      { role: 'user', parts: [text('And?')] },
    );
    expect(messages).toEqual([
      {
        role: 'assistant',
        content: 'Let me look.',
        tool_calls: [
          { id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } },
          { id: 'b', type: 'custom', custom: { name: 'f', input: 'in' } },
        ],
      },
      { role: 'tool', tool_call_id: 'a', content: '1\n\n(an image follows)' },
      { role: 'tool', tool_call_id: 'b', content: '2' },
      { role: 'user', content: [{ type: 'image_url', image_url: { url: image.url } }] },
      { role: 'user', content: 'And?' },
    ]);
  });

  it('leaves out what another vendor sealed', () => {
    const sealed = { family: 'gemini', value: { thoughtSignature: 'x' } } as const;
    expect(JSON.stringify(messagesOf(call('a', { sealed })))).not.toContain('thoughtSignature');
  });

  it('has tools, the choice among them, the form of the answer and the settings under their names', () => {
    const body = bodyOf({
      tools: [{ kind: 'function', name: 'f', parameters: { type: 'object' }, strict: true }],
      toolChoice: { kind: 'function', name: 'f' },
      responseFormat: { type: 'json_schema', name: 'n', schema: {}, strict: true },
      settings: { topP: 0.5, stop: ['a', 'b', 'c', 'd', 'e'], thinkingBudgetTokens: 10_000 },
    });
    expect(body).toEqual({
      messages: [],
      tools: [
        { type: 'function', function: { name: 'f', parameters: { type: 'object' }, strict: true } },
      ],
      tool_choice: { type: 'function', function: { name: 'f' } },
      response_format: {
        type: 'json_schema',
        json_schema: { name: 'n', schema: {}, strict: true },
      },
      top_p: 0.5,
      stop: ['a', 'b', 'c', 'd'],
      reasoning_effort: 'medium',
    });
  });
});
