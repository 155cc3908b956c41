import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { tokensOf } from '../chat/chat-reply.js';
import { SANDBOX_API_KEY } from '../http/protocol.js';
import { SandboxServer } from '../sandbox-server.js';

const server = new SandboxServer();
let base = '';
beforeAll(async () => {
  base = `http://127.0.0.1:${await server.listen()}/anthropic/v1/messages`;
});
afterAll(() => server.close());

const says = (content: unknown) => [{ role: 'user', content }];

function post(body: object, key = SANDBOX_API_KEY): Promise<Response> {
  return fetch(base, {
    method: 'POST',
    headers: { 'x-api-key': key, 'anthropic-version': '2023-06-01' },
    body: JSON.stringify({ model: 'claude-like', max_tokens: 200, ...body }),
  });
}

async function ask(body: object) {
  const answer = await post(body);
  return (await answer.json()) as {
    content: Record<string, unknown>[];
    stop_reason: string;
    stop_sequence: string | null;
    usage: Record<string, number>;
    error: { type: string; message: string };
  };
}

interface StreamedEvent {
  type: string;
  delta?: { text?: string; partial_json?: string };
}

/** The events until the end, or until the connection breaks. */
async function eventsOf(body: object) {
  const answer = await post({ ...body, stream: true });
  const events: StreamedEvent[] = [];
  let rest = '';
  try {
    for await (const piece of answer.body!.pipeThrough(new TextDecoderStream())) {
      rest += piece;
      const blocks = rest.split('\n\n');
      rest = blocks.pop() ?? '';
      for (const block of blocks) {
        const [name, data] = block.split('\n');
        const event = JSON.parse(data!.replace('data: ', '')) as StreamedEvent;
        expect(name).toBe(`event: ${event.type}`);
        events.push(event);
      }
    }
  } catch {
    events.push({ type: 'broken' });
  }
  return events;
}

describe('POST /v1/messages of the sandbox', () => {
  it('answers about the topic and counts its own tokens', async () => {
    const answer = await ask({ system: 'Be brief.', messages: says('Why is the sky blue?') });
    const [text] = answer.content as [{ text: string }];
    expect(text.text).toContain('Why is the sky blue?');
    expect(answer).toMatchObject({
      stop_reason: 'end_turn',
      usage: {
        input_tokens: tokensOf('Be brief.').length + tokensOf('Why is the sky blue?').length + 6,
        output_tokens: tokensOf(text.text).length,
        cache_read_input_tokens: 0,
      },
    });
  });

  it('streams the same answer in the order of events that stock readers want', async () => {
    const messages = says('Tell me about the moon');
    const whole = await ask({ messages });
    const events = await eventsOf({ messages });
    const types = events.map(({ type }) => type);
    const deltas = types.filter((type) => type === 'content_block_delta').length;
    expect(types).toEqual([
      ...['message_start', 'ping', 'content_block_start'],
      ...Array<string>(deltas).fill('content_block_delta'),
      ...['content_block_stop', 'message_delta', 'message_stop'],
    ]);
    const text = events.map(({ delta }) => delta?.text ?? '').join('');
    expect([{ type: 'text', text, citations: null }]).toEqual(whole.content);
    expect(events.at(-2)).toMatchObject({ delta: { stop_reason: 'end_turn' }, usage: whole.usage });
    expect(events[0]).toMatchObject({ message: { content: [], usage: { output_tokens: 1 } } });
  });

  it('stops at max_tokens and at stop sequences, and refuses on demand', async () => {
    const short = await ask({ messages: says('[[sandbox:tokens=50]]'), max_tokens: 5 });
    expect(short).toMatchObject({ stop_reason: 'max_tokens', usage: { output_tokens: 5 } });
    const stopped = await ask({ messages: says('Say: one two three'), stop_sequences: ['two'] });
    expect(stopped).toMatchObject({ stop_reason: 'stop_sequence', stop_sequence: 'two' });
    expect(stopped.content).toMatchObject([{ text: 'one ' }]);
    const refused = await ask({ messages: says('Hello [[sandbox:refuse]]') });
    expect(refused).toMatchObject({ stop_reason: 'refusal', content: [] });
  });

  it('calls a tool, and speaks about its answer', async () => {
    const tools = [
      {
        name: 'get_weather',
        input_schema: { type: 'object', properties: { city: { type: 'string' } } },
      },
    ];
    const messages = says('What is the weather in Graz?');
    const called = await ask({ messages, tools });
    expect(called.stop_reason).toBe('tool_use');
    expect(called.content).toEqual([
      {
        type: 'tool_use',
        id: expect.stringMatching(/^toolu_\w+$/),
        name: 'get_weather',
        input: { city: 'What is the weather in Graz?' },
      },
    ]);
    const result = {
      type: 'tool_result',
      tool_use_id: called.content[0]!.id,
      content: '21 degrees',
    };
    const after = await ask({
      tools,
      messages: [
        ...messages,
        { role: 'assistant', content: called.content },
        { role: 'user', content: [result] },
      ],
    });
    expect(after.content).toMatchObject([{ text: 'The tool answered: 21 degrees' }]);
    const events = await eventsOf({ messages, tools });
    const json = events.map(({ delta }) => delta?.partial_json ?? '');
    expect(JSON.parse(json.join(''))).toEqual(called.content[0]!.input);
  });

  it('thinks with signatures, which it wants back unchanged', async () => {
    const thinking = { type: 'enabled', budget_tokens: 1024 };
    const body = { max_tokens: 2_000, thinking, messages: says('Why?') };
    const { content, usage } = await ask(body);
    expect(content.map(({ type }) => type)).toEqual(['thinking', 'text']);
    const [thought] = content;
    expect(usage.output_tokens_details).toMatchObject({
      thinking_tokens: tokensOf(String(thought!.thinking)).length,
    });
    const next = (turn: unknown) => ({
      ...body,
      messages: [...body.messages, { role: 'assistant', content: turn }, ...says('And?')],
    });
    expect(await ask(next(content))).toMatchObject({ stop_reason: 'end_turn' });
    const changed = [{ ...thought, thinking: 'Something else' }, content[1]];
    expect((await post(next(changed))).status).toBe(400);
    const hidden = await ask({ ...body, thinking: { type: 'adaptive', display: 'omitted' } });
    expect(hidden.content[0]).toMatchObject({ type: 'thinking', thinking: '' });
    expect(hidden.usage.output_tokens_details).toEqual(usage.output_tokens_details);
  });

  it('keeps a prompt up to a mark, and reads it the next time', async () => {
    const cache_control = { type: 'ephemeral', ttl: '1h' };
    const system = [{ type: 'text', text: `Long rules ${Math.random()}`, cache_control }];
    const body = { system, messages: says('Hello') };
    const { usage: first } = await ask(body);
    const { usage: second } = await ask(body);
    const kept = first.cache_creation_input_tokens!;
    expect(kept).toBeGreaterThan(5);
    expect(first).toMatchObject({
      cache_read_input_tokens: 0,
      cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: kept },
    });
    expect(second).toMatchObject({
      input_tokens: first.input_tokens,
      cache_read_input_tokens: kept,
      cache_creation_input_tokens: 0,
    });
  });

  it('breaks a stream after the wanted event, and with an error event', async () => {
    const messages = (word: string) => says(`[[sandbox:tokens=3]] [[sandbox:${word}]]`);
    const whole = await eventsOf({ messages: messages('tokens=3') });
    for (const [sent] of whole.entries()) {
      const events = await eventsOf({ messages: messages(`break-event=${sent}`) });
      expect(events.slice(-1)).toEqual([{ type: 'broken' }]);
      expect(events).toHaveLength(sent + 1);
    }
    const failed = await eventsOf({ messages: messages('error-after=2') });
    expect(failed.at(-1)).toMatchObject({ type: 'error', error: { type: 'api_error' } });
    expect(server.lastChats(1)[0]).toMatchObject({ completionTokens: 2, isComplete: false });
  });

  it.each<[string, object, string]>([
    ['an unknown field', { n: 1 }, 'n: Extra inputs'],
    ['no messages', { messages: [] }, 'messages: '],
    [
      'an assistant that begins',
      { messages: [{ role: 'assistant', content: 'Hi' }] },
      'messages: ',
    ],
    ['a blank text', { messages: says(' ') }, 'messages.0.content.0.text: '],
    ['a temperature above 1', { temperature: 1.5 }, 'temperature: '],
    ['a blank stop sequence', { stop_sequences: ['\n'] }, 'stop_sequences.0: '],
    ['a budget below 1024', { thinking: { type: 'enabled', budget_tokens: 5 } }, 'thinking.'],
    [
      'a result that no call asked for',
      { messages: says([{ type: 'tool_result', tool_use_id: 'x', content: 'y' }]) },
      'messages.0: ',
    ],
  ])('refuses %s by its path', async (_what, fields, path) => {
    const answer = await post({ messages: says('Hi'), ...fields });
    expect(answer.status).toBe(400);
    const { error, type } = (await answer.json()) as { type: string; error: { message: string } };
    expect(type).toBe('error');
    expect(error).toMatchObject({ type: 'invalid_request_error' });
    expect(error.message.startsWith(path)).toBe(true);
  });

  it('answers a wrong key and wanted statuses in the shape of the provider', async () => {
    expect((await post({ messages: says('Hi') }, 'wrong')).status).toBe(401);
    const busy = await ask({ messages: says('[[sandbox:status=529]]') });
    expect(busy).toMatchObject({ type: 'error', error: { type: 'overloaded_error' } });
  });
});
