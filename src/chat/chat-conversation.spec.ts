import { describe, expect, it } from '@jest/globals';
import { CHAT_MODELS } from '../catalog/models/chat.models.js';
import { validatorOf } from '../common/validation/compiled-validator.js';
import { chatRequestOf } from './chat-request.js';
import { ChatBody } from './dto/chat.body.js';

const [row] = CHAT_MODELS;
const requestOf = (fields: object) =>
  chatRequestOf(row, validatorOf(ChatBody).parse({ model: row.id, ...fields }));
const conversationOf = (fields: object) => requestOf(fields).request.conversation();
const ofMessages = (...messages: object[]) => conversationOf({ messages }).messages;
const text = (value: string) => ({ type: 'text', text: value });

describe('the conversation of a chat', () => {
  it('has texts, images with the paths that name them, and the speaker', () => {
    expect(
      ofMessages(
        { role: 'system', content: 'Be brief.' },
        {
          role: 'user',
          name: 'Ann',
          content: [
            text('Hi'),
            { type: 'image_url', image_url: { url: 'https://a.b/c', detail: 'low' } },
          ],
        },
      ),
    ).toEqual([
      { role: 'system', parts: [text('Be brief.')] },
      {
        role: 'user',
        name: 'Ann',
        parts: [
          text('Hi'),
          {
            type: 'image',
            url: 'https://a.b/c',
            detail: 'low',
            param: 'messages.1.content.1.image_url.url',
          },
        ],
      },
    ]);
  });

  it('has earlier answers with reasoning, refusal and calls, and what vendors sealed', () => {
    const sealed = { family: 'messages', value: { signature: 's' } };
    const messages = ofMessages(
      {
        role: 'assistant',
        content: 'Let me look.',
        refusal: 'No.',
        reasoning_content: 'Hm',
        reasoning_details: [{ type: 'reasoning.sealed', ...sealed }, { type: 'other' }],
        tool_calls: [
          {
            id: 'a',
            type: 'function',
            function: { name: 'f', arguments: '{}' },
            extra_content: { family: 'gemini', value: { thoughtSignature: 't' } },
          },
          { id: 'b', type: 'custom', custom: { name: 'g', input: 'in' } },
        ],
      },
      { role: 'tool', tool_call_id: 'a', content: 'sunny' },
    );
    expect(messages).toEqual([
      {
        role: 'assistant',
        parts: [
          { type: 'reasoning', text: 'Hm', sealed },
          text('Let me look.'),
          { type: 'refusal', text: 'No.' },
          {
            type: 'tool-call',
            id: 'a',
            kind: 'function',
            name: 'f',
            arguments: '{}',
            sealed: { family: 'gemini', value: { thoughtSignature: 't' } },
          },
          { type: 'tool-call', id: 'b', kind: 'custom', name: 'g', arguments: 'in' },
        ],
      },
      { role: 'tool', callId: 'a', parts: [text('sunny')] },
    ]);
  });

  it('has tools, the choice among them, the form of the answer and the settings', () => {
    const schema = { type: 'object' };
    const { messages, ...rest } = conversationOf({
      messages: [{ role: 'user', content: 'Hi' }],
      tools: [
        {
          type: 'function',
          function: { name: 'f', description: 'd', parameters: schema, strict: true },
        },
        { type: 'custom', custom: { name: 'g' } },
      ],
      tool_choice: { type: 'function', function: { name: 'f' } },
      response_format: { type: 'json_schema', json_schema: { name: 'n', schema } },
      stop: 'END',
      top_p: 0.5,
      reasoning_effort: 'low',
      prompt_cache_key: 'k',
    });
    expect(messages).toHaveLength(1);
    expect(rest).toMatchObject({
      tools: [
        { kind: 'function', name: 'f', description: 'd', parameters: schema, strict: true },
        { kind: 'custom', name: 'g' },
      ],
      toolChoice: { kind: 'function', name: 'f' },
      responseFormat: { type: 'json_schema', name: 'n', schema },
      settings: { stop: ['END'], topP: 0.5, reasoningEffort: 'low', promptCacheKey: 'k' },
    });
  });

  it('has those tools alone among which the model may choose', () => {
    const tools = ['f', 'g'].map((name) => ({ type: 'function', function: { name } }));
    const custom = { type: 'custom', custom: { name: 'g' } };
    const allowed_tools = { mode: 'required', tools: [tools[0], custom] };
    const asked = requestOf({
      messages: [{ role: 'user', content: 'Hi' }],
      tools: [...tools, custom],
      tool_choice: { type: 'allowed_tools', allowed_tools },
    });
    expect(asked.request.conversation()).toMatchObject({
      tools: [
        { kind: 'function', name: 'f' },
        { kind: 'custom', name: 'g' },
      ],
      toolChoice: 'required',
    });
    const [, ofOthers] = asked.prompt(false).texts;
    expect(ofOthers).toBe(JSON.stringify([tools[0], custom]));
    expect(asked.prompt(true).texts[1]).toBe(JSON.stringify([...tools, custom]));
  });
});
