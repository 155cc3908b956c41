import assert from 'node:assert/strict';
import { OpenRouter } from '@openrouter/sdk';
import * as samples from './samples.js';

const say = (content) => ({ model: samples.CHAT_MODEL, messages: [{ role: 'user', content }] });

async function streams(client, options) {
  const chatRequest = { ...say(samples.SAY_HELLO), stream: true, ...options };
  let text = '';
  let tokens = 0;
  for await (const { choices, usage } of await client.chat.send({ chatRequest })) {
    text += choices[0]?.delta.content ?? '';
    tokens = usage?.completionTokens ?? tokens;
  }
  samples.saysHello(text);
  if (options.streamOptions) samples.countsTokens(tokens);
}

async function runsTools(client) {
  const tools = [
    { type: 'function', function: { name: 'get_weather', parameters: samples.CITY_SCHEMA } },
  ];
  const asked = say(samples.ASK_WEATHER);
  const first = await client.chat.send({ chatRequest: { ...asked, tools } });
  const { message } = first.choices[0];
  const [call] = message.toolCalls;
  const messages = [
    ...asked.messages,
    message,
    { role: 'tool', toolCallId: call.id, content: samples.WEATHER },
  ];
  const second = await client.chat.send({ chatRequest: { ...asked, messages, tools } });
  samples.saysSunny(second.choices[0].message.content);
}

/** OpenRouter's SDK with `serverURL`. */
export const openrouter = {
  name: '@openrouter/sdk',
  operations({ baseURL, apiKey }) {
    const client = new OpenRouter({
      apiKey,
      serverURL: baseURL,
      retryConfig: { strategy: 'none' },
    });
    return {
      async chat() {
        const { choices } = await client.chat.send({ chatRequest: say(samples.SAY_HELLO) });
        samples.saysHello(choices[0].message.content);
      },
      stream: () => streams(client, {}),
      'stream with usage': samples.notYet(
        'its schema refuses the `usage: null` of the other chunks, which is the form of OpenAI',
        () => streams(client, { streamOptions: { includeUsage: true } }),
      ),
      'tools loop': () => runsTools(client),
      async 'structured output'() {
        const jsonSchema = { name: 'place', schema: samples.CITY_SCHEMA, strict: true };
        const responseFormat = { type: 'json_schema', jsonSchema };
        const { choices } = await client.chat.send({
          chatRequest: { ...say('Graz'), responseFormat },
        });
        samples.namesCity(JSON.parse(choices[0].message.content));
      },
      async speech() {
        const speechRequest = { model: samples.SPEECH_MODEL, voice: samples.VOICE, input: 'Hello' };
        const stream = await client.tts.createSpeech({ speechRequest });
        samples.isMp3(new Uint8Array(await new Response(stream).arrayBuffer()));
      },
      async 'list of models'() {
        const { result } = await client.models.list();
        assert.ok(result.data.some(({ id }) => id === samples.CHAT_MODEL));
      },
    };
  },
};
