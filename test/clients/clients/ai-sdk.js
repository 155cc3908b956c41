import assert from 'node:assert/strict';
import { createOpenAI } from '@ai-sdk/openai';
import { embedMany, generateImage, generateSpeech, generateText, transcribe } from 'ai';
import * as samples from './samples.js';
import { chatOperations } from './vercel-chat.js';

/** The operations under other names. */
const named = (lead, operations) =>
  Object.fromEntries(Object.entries(operations).map(([name, run]) => [lead + name, run]));

/** The AI SDK with its OpenAI provider: by `openai.chat(model)`, and by `openai(model)`, which makes responses. */
export const aiSdk = {
  name: 'ai + @ai-sdk/openai',
  operations(access) {
    const provider = createOpenAI(access);
    const transcription = async (providerOptions) =>
      transcribe({
        model: provider.transcription(samples.TRANSCRIPTION_MODEL),
        audio: await samples.recording(access),
        ...(providerOptions && { providerOptions: { openai: providerOptions } }),
      });
    return {
      ...chatOperations(provider.chat(samples.CHAT_MODEL)),
      async embedMany() {
        const model = provider.embedding(samples.EMBEDDING_MODEL);
        const { embeddings, usage } = await embedMany({ model, values: samples.TEXTS });
        samples.areVectors(embeddings);
        samples.countsTokens(usage.tokens);
      },
      async image() {
        const model = provider.image(samples.IMAGE_MODEL);
        samples.isPng((await generateImage({ model, prompt: 'A boat' })).image.base64);
      },
      async speech() {
        const model = provider.speech(samples.SPEECH_MODEL);
        const { audio } = await generateSpeech({ model, text: 'Hello', voice: samples.VOICE });
        samples.isMp3(audio.uint8Array);
      },
      async transcription() {
        assert.match((await transcription()).text, /hello/i);
      },
      'transcription, verbose_json': async () => {
        const { text, segments, durationInSeconds } = await transcription({
          responseFormat: 'verbose_json',
          timestampGranularities: ['word'],
        });
        assert.match(text, /hello/i);
        assert.ok(segments.length > 0 && durationInSeconds > 0);
      },
      ...named('openai(model): ', chatOperations(provider(samples.CHAT_MODEL))),
      'openai(model): two turns by item_reference': async () => {
        const bodies = [];
        const recorded = (url, init) => {
          bodies.push(init.body);
          return fetch(url, init);
        };
        const model = createOpenAI({ ...access, fetch: recorded })(samples.CHAT_MODEL);
        const messages = [{ role: 'user', content: samples.SAY_HELLO }];
        const first = await generateText({ model, messages });
        messages.push(...first.response.messages, { role: 'user', content: samples.SAY_HELLO });
        samples.saysHello((await generateText({ model, messages })).text);
        assert.match(bodies.at(-1), /item_reference/);
      },
    };
  },
};
