import assert from 'node:assert/strict';
import { HumanMessage, ToolMessage } from '@langchain/core/messages';
import { tool } from '@langchain/core/tools';
import { ChatOpenAI, OpenAIEmbeddings } from '@langchain/openai';
import { z } from 'zod';
import * as samples from './samples.js';

async function runsTools(model) {
  const weather = tool(() => samples.WEATHER, {
    name: 'get_weather',
    description: 'The weather of a city',
    schema: z.object({ city: z.string() }),
  });
  const able = model.bindTools([weather]);
  const messages = [new HumanMessage(samples.ASK_WEATHER)];
  const asked = await able.invoke(messages);
  assert.equal(asked.tool_calls.length, 1);
  messages.push(asked);
  for (const call of asked.tool_calls) {
    messages.push(
      new ToolMessage({ tool_call_id: call.id, content: await weather.invoke(call.args) }),
    );
  }
  samples.saysSunny((await able.invoke(messages)).text);
}

/** LangChain's chat model. */
export const langchain = {
  name: '@langchain/openai',
  operations({ baseURL, apiKey }) {
    const options = {
      model: samples.CHAT_MODEL,
      apiKey,
      configuration: { baseURL },
      maxRetries: 0,
    };
    const model = new ChatOpenAI(options);
    const responses = new ChatOpenAI({ ...options, useResponsesApi: true });
    return {
      async chat() {
        samples.saysHello((await model.invoke(samples.SAY_HELLO)).content);
      },
      async 'stream with usage'() {
        let whole;
        for await (const piece of await model.stream(samples.SAY_HELLO)) {
          whole = whole ? whole.concat(piece) : piece;
        }
        samples.saysHello(whole.content);
        samples.countsTokens(whole.usage_metadata.output_tokens);
      },
      'tools loop': () => runsTools(model),
      async 'structured output'() {
        const place = model.withStructuredOutput(z.object({ city: z.string() }));
        samples.namesCity(await place.invoke('Graz'));
      },
      async 'embeddings of documents'() {
        const { apiKey: key, configuration } = options;
        const embeddings = new OpenAIEmbeddings({
          model: samples.EMBEDDING_MODEL,
          apiKey: key,
          configuration,
        });
        samples.areVectors(await embeddings.embedDocuments(samples.TEXTS));
      },
      'useResponsesApi: true': async () => {
        samples.saysHello((await responses.invoke(samples.SAY_HELLO)).text);
      },
      'useResponsesApi: true, stream': async () => {
        let text = '';
        for await (const piece of await responses.stream(samples.SAY_HELLO)) text += piece.text;
        samples.saysHello(text);
      },
      'useResponsesApi: true, tools loop': () => runsTools(responses),
    };
  },
};
