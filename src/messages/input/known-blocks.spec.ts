import { describe, expect, it } from '@jest/globals';
import { IgnoredFields } from '../../text/ignored-fields.js';
import type { MessagesBody } from '../dto/messages.body.js';
import { KnownBlocks } from './known-blocks.js';

function known(fields: object) {
  const ignored = new IgnoredFields();
  const blocks = new KnownBlocks(ignored);
  const body = { model: 'm', stream: false, messages: [], ...fields } as MessagesBody;
  return { body: blocks.of(body), placed: blocks.placed, names: ignored.names };
}

const asked = (...content: object[]) => ({ messages: [{ role: 'user', content }] });

describe('fields inside a message that nobody knows', () => {
  it.each<[string, object]>([
    ['messages.0.id', { messages: [{ role: 'user', content: 'Hi', id: 'm' }] }],
    ['messages.0.content.0.mood', asked({ type: 'text', text: 'Hi', mood: 'good' })],
    [
      'messages.0.content.1.cache_control.scope',
      asked(
        { type: 'text', text: 'Hi' },
        { type: 'text', text: 'you', cache_control: { type: 'ephemeral', scope: 'all' } },
      ),
    ],
    [
      'messages.0.content.0.content.0.source.detail',
      asked({
        type: 'tool_result',
        tool_use_id: 't',
        content: [{ type: 'image', source: { type: 'url', url: 'https://a.b', detail: 'low' } }],
      }),
    ],
    [
      'messages.0.content.0.source.content.0.mood',
      asked({
        type: 'document',
        source: { type: 'content', content: [{ type: 'text', text: 'Hi', mood: 'good' }] },
      }),
    ],
    [
      'messages.0.content.0.citations.style',
      asked({
        type: 'document',
        source: { type: 'text', media_type: 'text/plain', data: 'Hi' },
        citations: { enabled: true, style: 'short' },
      }),
    ],
    ['system.0.mood', { system: [{ type: 'text', text: 'Hi', mood: 'good' }] }],
    ['tools.0.color', { tools: [{ name: 'a', input_schema: {}, color: 'red' }] }],
    ['tool_choice.color', { tool_choice: { type: 'auto', color: 'red' } }],
    ['thinking.depth', { thinking: { type: 'adaptive', depth: 3 } }],
    ['output_config.tone', { output_config: { effort: 'low', tone: 'dry' } }],
    [
      'output_config.format.tone',
      { output_config: { format: { type: 'json_schema', schema: {}, tone: 'dry' } } },
    ],
    ['metadata.team', { metadata: { user_id: 'u', team: 't' } }],
    ['cache_control.scope', { cache_control: { type: 'ephemeral', scope: 'all' } }],
  ])('are left out, and named by their path: %s (G-107)', (path, fields) => {
    const { body, names } = known(fields);
    expect(names).toEqual([path]);
    const field = path.slice(path.lastIndexOf('.') + 1);
    const sent = JSON.stringify(body);
    expect(JSON.stringify(fields)).toContain(`"${field}":`);
    expect(sent).not.toContain(`"${field}":`);
  });

  it('take no place beside an image, where a text would not be paid for', () => {
    const source = { type: 'base64', media_type: 'image/png', data: 'AAAA', url: 'a long text' };
    const { body, names } = known(asked({ type: 'image', source }));
    expect(names).toEqual(['messages.0.content.0.source.url']);
    expect(JSON.stringify(body)).not.toContain('a long text');
  });

  it('are none in the schema and the input of a tool', () => {
    const input = { anything: { type: 'text', x: 1 } };
    const { names } = known({
      messages: [{ role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'b', input }] }],
      tools: [{ name: 'b', input_schema: { properties: { x: { y: 1 } } }, input_examples: [{}] }],
    });
    expect(names).toEqual([]);
  });
});

describe('a block of an answer whose type nobody knows', () => {
  it('stays as it is, and is not among the known ones', () => {
    const block = { type: 'server_memory', content: [{ type: 'text', text: 'a', mood: 'good' }] };
    const text = { type: 'text', text: 'Hi' };
    const content = [text, block];
    const ignored = new IgnoredFields();
    const blocks = new KnownBlocks(ignored);
    const messages = [{ role: 'assistant', content }];
    const { messages: sent } = blocks.of({ model: 'm', stream: false, messages });
    expect((sent[0]!.content as object[])[1]).toBe(block);
    expect(blocks.unknown).toEqual([{ block, path: 'messages.0.content.1' }]);
    expect(blocks.placed.map(({ block: known }) => known)).toEqual([text]);
    expect(ignored.names).toEqual([]);
  });
});

describe('a body whose fields are all known', () => {
  it('is not copied', () => {
    const turn = {
      role: 'user',
      content: [{ type: 'text', text: 'Hi', cache_control: { type: 'ephemeral', ttl: '1h' } }],
    };
    const { body, placed } = known({ messages: [turn] });
    expect((body.messages[0]!.content as object[])[0]).toBe(turn.content[0]);
    expect(placed).toEqual([{ block: turn.content[0], path: 'messages.0.content.0' }]);
  });

  it('places every block, those in results of tools included, and texts as blocks', () => {
    const image = { type: 'image', source: { type: 'url', url: 'https://a.b' } };
    const { placed } = known({
      messages: [
        { role: 'user', content: 'Hi' },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 'a', content: 'sunny' },
            { type: 'tool_result', tool_use_id: 'b', content: [image] },
          ],
        },
      ],
    });
    expect(placed.map(({ path, block }) => [path, block.type])).toEqual([
      ['messages.0.content.0', 'text'],
      ['messages.1.content.0.content.0', 'text'],
      ['messages.1.content.0', 'tool_result'],
      ['messages.1.content.1.content.0', 'image'],
      ['messages.1.content.1', 'tool_result'],
    ]);
  });
});
