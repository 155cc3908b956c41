import assert from 'node:assert/strict';
import {
  chat,
  generateImage,
  generateSpeech,
  generateTranscription,
  toolDefinition,
} from '@tanstack/ai';
import {
  createOpenaiChat,
  createOpenaiChatCompletions,
  createOpenaiImage,
  createOpenaiSpeech,
  createOpenaiTranscription,
} from '@tanstack/ai-openai';
import { z } from 'zod';
import * as samples from './samples.js';

const say = (content) => [{ role: 'user', content }];
const place = z.object({ city: z.string() });

async function streamsWithUsage(adapter) {
  let text = '';
  let tokens = 0;
  for await (const event of chat({ adapter, messages: say(samples.SAY_HELLO) })) {
    if (event.type === 'TEXT_MESSAGE_CONTENT') text += event.delta;
    if (event.type === 'RUN_FINISHED') tokens = event.usage?.completionTokens ?? tokens;
  }
  samples.saysHello(text);
  samples.countsTokens(tokens);
}

/** TanStack AI with its adapters for OpenAI; chats by `createOpenaiChatCompletions`. */
export const tanstack = {
  name: '@tanstack/ai-openai',
  operations({ baseURL, apiKey }) {
    const adapter = createOpenaiChatCompletions(samples.CHAT_MODEL, apiKey, { baseURL });
    return {
      async chat() {
        const messages = say(samples.SAY_HELLO);
        samples.saysHello(await chat({ adapter, messages, stream: false }));
      },
      'stream with usage': () => streamsWithUsage(adapter),
      async 'tools loop'() {
        const weather = toolDefinition({
          name: 'get_weather',
          description: 'The weather of a city',
          inputSchema: place,
        }).server(() => samples.WEATHER);
        const messages = say(samples.ASK_WEATHER);
        samples.saysSunny(await chat({ adapter, messages, tools: [weather], stream: false }));
      },
      async 'structured output'() {
        samples.namesCity(await chat({ adapter, messages: say('Graz'), outputSchema: place }));
      },
      image: async () => {
        const images = createOpenaiImage(samples.IMAGE_MODEL, apiKey, { baseURL });
        const result = await generateImage({ adapter: images, prompt: 'A boat' });
        samples.isPng(result.images[0].b64Json);
      },
      async speech() {
        const speech = createOpenaiSpeech(samples.SPEECH_MODEL, apiKey, { baseURL });
        const { audio } = await generateSpeech({
          adapter: speech,
          text: 'Hello',
          voice: samples.VOICE,
        });
        samples.isMp3(Buffer.from(audio, 'base64'));
      },
      async transcription() {
        const listener = createOpenaiTranscription(samples.TRANSCRIPTION_MODEL, apiKey, {
          baseURL,
        });
        const bytes = await samples.recording({ baseURL, apiKey });
        const audio = new File([bytes], 'hello.mp3', { type: 'audio/mpeg' });
        const { text } = await generateTranscription({ adapter: listener, audio });
        assert.match(text, /hello/i);
      },
      async createOpenaiChat() {
        const responses = createOpenaiChat(samples.CHAT_MODEL, apiKey, { baseURL });
        const messages = say(samples.SAY_HELLO);
        samples.saysHello(await chat({ adapter: responses, messages, stream: false }));
      },
    };
  },
};
