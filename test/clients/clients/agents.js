import assert from 'node:assert/strict';
import {
  Agent,
  run,
  setDefaultOpenAIClient,
  setOpenAIAPI,
  setTracingDisabled,
  tool,
} from '@openai/agents';
import OpenAI from 'openai';
import { z } from 'zod';
import * as samples from './samples.js';

const place = z.object({ city: z.string() });

const agentOf = (more) =>
  new Agent({ name: 'Guide', instructions: 'Be brief.', model: samples.CHAT_MODEL, ...more });

const weatherAgent = () =>
  agentOf({
    tools: [
      tool({
        name: 'get_weather',
        description: 'The weather of a city',
        parameters: place,
        execute: () => samples.WEATHER,
      }),
    ],
  });

async function handsOver() {
  const clerk = agentOf({ name: 'Clerk' });
  const result = await run(agentOf({ handoffs: [clerk] }), 'Use transfer_to_Clerk');
  assert.equal(result.lastAgent.name, 'Clerk');
  assert.ok(result.finalOutput.length > 0);
}

async function withResponses(work) {
  setOpenAIAPI('responses');
  try {
    await work();
  } finally {
    setOpenAIAPI('chat_completions');
  }
}

/** OpenAI's agents by chat completions; without tracing, which would send the gateway's key to OpenAI. */
export const agents = {
  name: '@openai/agents',
  operations(access) {
    setDefaultOpenAIClient(new OpenAI({ ...access, maxRetries: 0 }));
    setOpenAIAPI('chat_completions');
    setTracingDisabled(true);
    return {
      async chat() {
        samples.saysHello((await run(agentOf(), samples.SAY_HELLO)).finalOutput);
      },
      async 'stream with usage'() {
        const result = await run(agentOf(), samples.SAY_HELLO, { stream: true });
        let text = '';
        for await (const piece of result.toTextStream()) text += piece;
        await result.completed;
        samples.saysHello(text);
        samples.countsTokens(result.state.usage.outputTokens);
      },
      async 'tools loop'() {
        samples.saysSunny((await run(weatherAgent(), samples.ASK_WEATHER)).finalOutput);
      },
      handoff: handsOver,
      async 'structured output'() {
        samples.namesCity((await run(agentOf({ outputType: place }), 'Graz')).finalOutput);
      },
      "setOpenAIAPI('responses'), its default": () =>
        withResponses(async () => {
          samples.saysHello((await run(agentOf(), samples.SAY_HELLO)).finalOutput);
        }),
      'responses, tools loop': () =>
        withResponses(async () => {
          samples.saysSunny((await run(weatherAgent(), samples.ASK_WEATHER)).finalOutput);
        }),
      'responses, handoff': () => withResponses(handsOver),
      'responses, stream': () =>
        withResponses(async () => {
          const result = await run(agentOf(), samples.SAY_HELLO, { stream: true });
          await result.completed;
          samples.saysHello(result.finalOutput);
        }),
    };
  },
};
