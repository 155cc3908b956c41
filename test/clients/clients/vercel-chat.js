import { generateText, isStepCount, Output, streamText, tool } from 'ai';
import { z } from 'zod';
import * as samples from './samples.js';

/** The operations of the AI SDK on a chat model, whichever of its providers made it. */
export function chatOperations(model) {
  return {
    async chat() {
      samples.saysHello((await generateText({ model, prompt: samples.SAY_HELLO })).text);
    },
    async 'stream with usage'() {
      const { textStream, totalUsage } = streamText({ model, prompt: samples.SAY_HELLO });
      let text = '';
      for await (const piece of textStream) text += piece;
      samples.saysHello(text);
      samples.countsTokens((await totalUsage).outputTokens);
    },
    async 'tools loop'() {
      const weather = tool({
        description: 'The weather of a city',
        inputSchema: z.object({ city: z.string() }),
        execute: () => samples.WEATHER,
      });
      const { text } = await generateText({
        model,
        prompt: samples.ASK_WEATHER,
        tools: { get_weather: weather },
        stopWhen: isStepCount(3),
      });
      samples.saysSunny(text);
    },
    async 'structured output'() {
      const output = Output.object({ schema: z.object({ city: z.string() }) });
      samples.namesCity((await generateText({ model, prompt: 'Graz', output })).output);
    },
    async 'image in'() {
      const content = [
        { type: 'text', text: samples.SAY_HELLO },
        { type: 'file', mediaType: 'image/png', data: samples.IMAGE_URL.split(',')[1] },
      ];
      samples.saysHello(
        (await generateText({ model, messages: [{ role: 'user', content }] })).text,
      );
    },
  };
}
