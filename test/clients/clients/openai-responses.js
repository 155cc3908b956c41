import assert from 'node:assert/strict';
import { zodTextFormat } from 'openai/helpers/zod';
import { z } from 'zod';
import * as samples from './samples.js';

const ask = (input, more) => ({ model: samples.CHAT_MODEL, input, ...more });
const TOOLS = [
  { type: 'function', name: 'get_weather', parameters: samples.CITY_SCHEMA, strict: true },
];

/** What the SDK of OpenAI does with responses. */
export function responseOperations(client) {
  return {
    async responses() {
      samples.saysHello((await client.responses.create(ask(samples.SAY_HELLO))).output_text);
    },
    async 'responses, stream'() {
      let text = '';
      let tokens = 0;
      const stream = await client.responses.create(ask(samples.SAY_HELLO, { stream: true }));
      for await (const event of stream) {
        if (event.type === 'response.output_text.delta') text += event.delta;
        if (event.type === 'response.completed') tokens = event.response.usage.output_tokens;
      }
      samples.saysHello(text);
      samples.countsTokens(tokens);
    },
    async 'responses, helper of streams'() {
      const final = await client.responses.stream(ask(samples.SAY_HELLO)).finalResponse();
      samples.saysHello(final.output_text);
    },
    async 'responses, parse'() {
      const format = zodTextFormat(z.object({ city: z.string() }), 'place');
      const { output_parsed: place } = await client.responses.parse(
        ask('Graz', { text: { format } }),
      );
      samples.namesCity(place);
    },
    async 'responses, two turns by previous_response_id with a tool'() {
      const first = await client.responses
        .stream(ask(samples.ASK_WEATHER, { tools: TOOLS }))
        .finalResponse();
      const [call] = first.output;
      assert.equal(call.type, 'function_call');
      const output = {
        type: 'function_call_output',
        call_id: call.call_id,
        output: samples.WEATHER,
      };
      const more = { tools: TOOLS, previous_response_id: first.id };
      samples.saysSunny((await client.responses.create(ask([output], more))).output_text);
    },
    async 'responses, a stream that breaks'() {
      const broken = client.responses.stream(
        ask('Tell [[sandbox:tokens=20]][[sandbox:break-after=3]]'),
      );
      await assert.rejects(broken.finalResponse());
    },
    async 'responses, read and deleted'() {
      const { id } = await client.responses.create(ask(samples.SAY_HELLO));
      samples.saysHello((await client.responses.retrieve(id)).output_text);
      const { data } = await client.responses.inputItems.list(id);
      assert.equal(data.length, 1);
      await client.responses.delete(id);
      await assert.rejects(client.responses.retrieve(id), { status: 404 });
    },
  };
}
