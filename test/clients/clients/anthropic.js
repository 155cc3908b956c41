import assert from 'node:assert/strict';
import Anthropic from '@anthropic-ai/sdk';
import * as samples from './samples.js';

const ask = (content, more) => ({
  model: samples.CHAT_MODEL,
  max_tokens: 200,
  messages: [{ role: 'user', content }],
  ...more,
});
const TOOLS = [{ name: 'get_weather', input_schema: samples.CITY_SCHEMA }];
const textOf = ({ content }) => content.flatMap(({ text }) => text ?? []).join('');

/** The turn of the model, and the result of the tool that it called. */
function answered(question, { content }) {
  const call = content.find(({ type }) => type === 'tool_use');
  assert.equal(typeof call.input, 'object');
  const result = { type: 'tool_result', tool_use_id: call.id, content: samples.WEATHER };
  return {
    ...question,
    messages: [
      ...question.messages,
      { role: 'assistant', content },
      { role: 'user', content: [result] },
    ],
  };
}

export const anthropic = {
  name: '@anthropic-ai/sdk',
  operations({ baseURL, apiKey }) {
    const client = new Anthropic({ baseURL: baseURL.replace(/\/v1$/, ''), apiKey });
    return {
      async messages() {
        const message = await client.messages.create(ask(samples.SAY_HELLO));
        samples.saysHello(textOf(message));
        assert.equal(message.stop_reason, 'end_turn');
      },
      async 'messages, with authToken'() {
        const { baseURL: url } = client;
        const bearer = new Anthropic({ baseURL: url, apiKey: null, authToken: apiKey });
        samples.saysHello(textOf(await bearer.messages.create(ask(samples.SAY_HELLO))));
      },
      async 'messages, stream'() {
        let text = '';
        let tokens = 0;
        const stream = await client.messages.create(ask(samples.SAY_HELLO, { stream: true }));
        for await (const event of stream) {
          if (event.type === 'content_block_delta') text += event.delta.text ?? '';
          if (event.type === 'message_delta') tokens = event.usage.output_tokens;
        }
        samples.saysHello(text);
        samples.countsTokens(tokens);
      },
      async 'messages, helper of streams with a tool'() {
        const question = ask(samples.ASK_WEATHER, { tools: TOOLS });
        const first = await client.messages.stream(question).finalMessage();
        assert.equal(first.stop_reason, 'tool_use');
        const second = client.messages.stream(answered(question, first));
        samples.saysSunny(await second.finalText());
      },
      async 'messages, tool'() {
        const question = ask(samples.ASK_WEATHER, { tools: TOOLS });
        const first = await client.messages.create(question);
        samples.saysSunny(textOf(await client.messages.create(answered(question, first))));
      },
      async 'messages, image in'() {
        const [, data] = samples.IMAGE_URL.split(',');
        const source = { type: 'base64', media_type: 'image/png', data };
        const content = [
          { type: 'image', source },
          { type: 'text', text: samples.SAY_HELLO },
        ];
        samples.saysHello(textOf(await client.messages.create(ask(content))));
      },
      async 'messages, a stream that breaks'() {
        const broken = client.messages.stream(
          ask('Tell [[sandbox:tokens=20]][[sandbox:break-after=3]]'),
        );
        await assert.rejects(broken.finalMessage());
      },
      async 'messages, errors'() {
        const wrong = new Anthropic({ baseURL: client.baseURL, apiKey: 'sk-wrong' });
        await assert.rejects(wrong.messages.create(ask('a')), (error) => {
          assert.ok(error instanceof Anthropic.AuthenticationError);
          return error.error.error.type === 'authentication_error';
        });
      },
      async 'count of tokens'() {
        const { max_tokens: _cap, ...body } = ask(samples.SAY_HELLO);
        samples.countsTokens((await client.messages.countTokens(body)).input_tokens);
      },
      async 'list of models'() {
        const ids = [];
        for await (const { id } of client.models.list()) ids.push(id);
        assert.ok(ids.includes(samples.CHAT_MODEL));
      },
    };
  },
};
