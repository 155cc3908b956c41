import assert from 'node:assert/strict';
import OpenAI, { toFile } from 'openai';
import { zodResponseFormat } from 'openai/helpers/zod';
import { z } from 'zod';
import { responseOperations } from './openai-responses.js';
import * as samples from './samples.js';

const say = (content) => ({ model: samples.CHAT_MODEL, messages: [{ role: 'user', content }] });

async function streamsWithUsage(client) {
  let text = '';
  let tokens = 0;
  const stream = await client.chat.completions.create({
    ...say(samples.SAY_HELLO),
    stream: true,
    stream_options: { include_usage: true },
  });
  for await (const { choices, usage } of stream) {
    text += choices[0]?.delta.content ?? '';
    tokens = usage?.completion_tokens ?? tokens;
  }
  samples.saysHello(text);
  samples.countsTokens(tokens);
}

async function runsTools(client) {
  const tool = {
    type: 'function',
    function: {
      name: 'get_weather',
      parse: JSON.parse,
      parameters: samples.CITY_SCHEMA,
      function: () => samples.WEATHER,
    },
  };
  const runner = client.chat.completions.runTools({ ...say(samples.ASK_WEATHER), tools: [tool] });
  samples.saysSunny(await runner.finalContent());
}

async function makesVideo(client) {
  let video = await client.videos.create({
    model: samples.VIDEO_MODEL,
    prompt: 'Dunes [[sandbox:task-ms=1]]',
    seconds: '5',
  });
  while (video.status !== 'completed') {
    assert.notEqual(video.status, 'failed');
    video = await client.videos.retrieve(video.id, { headers: { prefer: 'wait=20' } });
  }
  const content = await client.videos.downloadContent(video.id);
  samples.isMp4(new Uint8Array(await content.arrayBuffer()));
}

async function transcribes(client, access, options, check) {
  const file = await toFile(await samples.recording(access), 'hello.mp3');
  const model = samples.TRANSCRIPTION_MODEL;
  check(await client.audio.transcriptions.create({ model, file, ...options }));
}

/** The SDK of OpenAI, newest major version. */
export const openai = {
  name: 'openai',
  operations(access) {
    const client = new OpenAI({ ...access, maxRetries: 0 });
    return {
      async chat() {
        const { choices } = await client.chat.completions.create(say(samples.SAY_HELLO));
        samples.saysHello(choices[0].message.content);
      },
      'stream with usage': () => streamsWithUsage(client),
      'tools loop': () => runsTools(client),
      async 'structured output'() {
        const { choices } = await client.chat.completions.parse({
          ...say('Graz'),
          response_format: zodResponseFormat(z.object({ city: z.string() }), 'place'),
        });
        samples.namesCity(choices[0].message.parsed);
      },
      async 'image in'() {
        const parts = [
          { type: 'text', text: 'What is this?' },
          { type: 'image_url', image_url: { url: samples.IMAGE_URL } },
        ];
        const { choices } = await client.chat.completions.create(say(parts));
        assert.match(choices[0].message.content, /1 image/);
      },
      async image() {
        const image = { model: samples.IMAGE_MODEL, prompt: 'A boat' };
        const { data } = await client.images.generate(image);
        samples.isPng(data[0].b64_json);
      },
      'image with quality, size and background auto': async () => {
        const auto = { quality: 'auto', size: 'auto', background: 'auto', stream: false };
        const image = { model: samples.IMAGE_MODEL, prompt: 'A boat', ...auto };
        const { data } = await client.images.generate(image);
        samples.isPng(data[0].b64_json);
      },
      async speech() {
        const speech = { model: samples.SPEECH_MODEL, voice: samples.VOICE, input: 'Hello' };
        const answer = await client.audio.speech.create(speech);
        samples.isMp3(new Uint8Array(await answer.arrayBuffer()));
      },
      transcription: () =>
        transcribes(client, access, {}, ({ text }) => assert.match(text, /hello/i)),
      'transcription, verbose_json with words and segments': () =>
        transcribes(
          client,
          access,
          { response_format: 'verbose_json', timestamp_granularities: ['word', 'segment'] },
          ({ words, segments, duration, text }) => {
            assert.equal(words.map(({ word }) => word).join(''), text);
            assert.ok(segments.length > 0 && Number(duration) > 0);
          },
        ),
      video: () => makesVideo(client),
      async models() {
        const ids = [];
        for await (const { id } of client.models.list()) ids.push(id);
        assert.ok(ids.includes(samples.CHAT_MODEL));
      },
      ...responseOperations(client),
      async embeddings() {
        const { data, usage } = await client.embeddings.create({
          model: samples.EMBEDDING_MODEL,
          input: samples.TEXTS,
        });
        samples.areVectors(data.map(({ embedding }) => embedding));
        samples.countsTokens(usage.prompt_tokens);
      },
    };
  },
};
