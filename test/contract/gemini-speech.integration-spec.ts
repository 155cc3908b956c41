import { expect } from '@jest/globals';
import { readBounded } from '../../src/providers/http/response-body.js';
import { geminiPorts } from '../../src/providers/gemini/gemini-ports.js';
import type { AudioFormat, ProviderAudio } from '../../src/providers/ports/audio.port.js';
import type { SeenRequest } from '../support/stub-upstream.js';
import { describePortContract, describeRequest, type PortContract } from './port-contract.js';

const MAX_BYTES = 1_000_000;
const PATH = '/models/upstream-model:generateContent';
/** A second of a tone, in the two pieces that the vendor may split it into. */
const samples = Buffer.alloc(48_000);
for (let at = 0; at < 24_000; at += 1) {
  samples.writeInt16LE(Math.round(12_000 * Math.sin(at / 10)), 2 * at);
}
const answer = (mimeType = 'audio/L16;codec=pcm;rate=24000') => ({
  candidates: [
    {
      content: {
        parts: [samples.subarray(0, 30_000), samples.subarray(30_000)].map((piece) => ({
          inlineData: { mimeType, data: piece.toString('base64') },
        })),
        role: 'model',
      },
      finishReason: 'STOP',
      index: 0,
    },
  ],
  usageMetadata: { promptTokenCount: 9, candidatesTokenCount: 25, totalTokenCount: 34 },
});
const good = (result: object, body = answer()) => ({
  type: 'application/json; charset=UTF-8',
  body: Buffer.from(JSON.stringify(body)),
  result,
});

async function heard(audio: ProviderAudio) {
  const bytes = await readBounded(audio.body, MAX_BYTES);
  const head = bytes.toString('latin1', 0, 4);
  return { head, bytes, providerRequestId: audio.providerRequestId };
}
const speaks = (format: AudioFormat): PortContract['run'] => {
  return async (access, context) => {
    const command = { text: 'Hé, you.', voiceId: 'Kore', format, seed: 2 ** 31 + 5, speed: 1.1 };
    return heard(await geminiPorts(access).speech!.speak(command, context));
  };
};
const expectJson =
  (text: string, speechConfig: object, seed?: number): PortContract['expectRequest'] =>
  (request: SeenRequest) => {
    expect([request.method, request.url]).toEqual(['POST', PATH]);
    expect(JSON.parse(request.body.toString())).toEqual({
      contents: [{ role: 'user', parts: [{ text }] }],
      generationConfig: { responseModalities: ['AUDIO'], speechConfig, seed },
    });
  };
const voice = (voiceName: string) => ({ voiceConfig: { prebuiltVoiceConfig: { voiceName } } });
const spokenByOne = expectJson('Say the following: Hé, you.', voice('Kore'), 5);
const silent = samples.toString('latin1', 0, 4);

describePortContract('Gemini speech', {
  run: speaks('pcm'),
  good: good({ head: silent, bytes: samples, providerRequestId: null }),
  expectRequest: spokenByOne,
});

describeRequest('Gemini speech as WAV', {
  run: async (access, context) => {
    const file = (await speaks('wav')(access, context)) as Awaited<ReturnType<typeof heard>>;
    const { bytes } = file;
    return {
      magic: [file.head, bytes.toString('latin1', 8, 16), bytes.toString('latin1', 36, 40)],
      channelsAndRate: [bytes.readUInt16LE(22), bytes.readUInt32LE(24), bytes.readUInt16LE(34)],
      sizes: [bytes.readUInt32LE(4), bytes.readUInt32LE(40)],
      isSame: bytes.subarray(44).equals(samples),
    };
  },
  good: good({
    magic: ['RIFF', 'WAVEfmt ', 'data'],
    channelsAndRate: [1, 24_000, 16],
    sizes: [48_036, 48_000],
    isSame: true,
  }),
  expectRequest: spokenByOne,
});

const lines = [
  { text: 'Hello, who is there?', voiceId: 'Kore' },
  { text: 'It is me.', voiceId: 'Puck' },
  { text: 'Come in.', voiceId: 'Kore' },
];
const says = (spoken: typeof lines): PortContract['run'] => {
  return async (access, context) =>
    heard(
      await geminiPorts(access).dialogue!.speakDialogue({ lines: spoken, format: 'pcm' }, context),
    );
};
describeRequest('Gemini dialogue', {
  run: says(lines),
  good: good({ head: silent, bytes: samples, providerRequestId: null }),
  expectRequest: expectJson(
    'TTS the following conversation between Speaker1 and Speaker2:\n' +
      'Speaker1: Hello, who is there?\nSpeaker2: It is me.\nSpeaker1: Come in.',
    {
      multiSpeakerVoiceConfig: {
        speakerVoiceConfigs: [
          { speaker: 'Speaker1', ...voice('Kore') },
          { speaker: 'Speaker2', ...voice('Puck') },
        ],
      },
    },
  ),
});

describeRequest('Gemini dialogue of one voice', {
  run: says([lines[0]!, lines[2]!]),
  good: good({ head: silent, bytes: samples, providerRequestId: null }),
  expectRequest: expectJson('Say the following: Hello, who is there?\nCome in.', voice('Kore')),
});
