import { countPromptTokens } from '../chat/chat-reply.js';
import { asArray, asRecord } from '../http/json.js';
import type { SandboxExchange } from '../http/sandbox-exchange.js';
import { Magic } from '../magic-inputs.js';
import { encodedFile } from '../media/audio-files/audio-encoder.js';
import { encodePng, promptPicture } from '../media/prompt-picture.js';
import { hashText } from '../media/seeded-random.js';
import { joinSounds, type Waveform } from '../media/sound/sound.js';
import { speechOfLength, speechSound } from '../media/sound/speech.js';
import type { ContentRequest } from './content-request.js';
import { refuseContent } from './gemini-errors.js';
import { contentAnswer } from './made-content.js';

const L16 = { codec: 'pcm', sampleRate: 24_000, kbps: 0 } as const;
const TOKENS_PER_IMAGE = 1_290;
const TOKENS_PER_SECOND = 25;
const INSTANT_SECONDS = 0.5;
/** Width and height of a picture of about a megapixel, by its shape. */
const SHAPES: Readonly<Record<string, readonly [width: number, height: number]>> = {
  '1:1': [1024, 1024],
  '2:3': [832, 1248],
  '3:2': [1248, 832],
  '3:4': [864, 1184],
  '4:3': [1184, 864],
  '4:5': [896, 1152],
  '5:4': [1152, 896],
  '9:16': [768, 1344],
  '16:9': [1344, 768],
  '21:9': [1536, 672],
};
const SCALES: Readonly<Record<string, number>> = { '1K': 1, '2K': 2, '4K': 4 };
const VOICES: readonly string[] = [
  ...['Zephyr', 'Puck', 'Charon', 'Kore', 'Fenrir', 'Leda', 'Orus', 'Aoede', 'Callirrhoe'],
  ...['Autonoe', 'Enceladus', 'Iapetus', 'Umbriel', 'Algieba', 'Despina', 'Erinome', 'Algenib'],
  ...['Rasalgethi', 'Laomedeia', 'Achernar', 'Alnilam', 'Schedar', 'Gacrux', 'Pulcherrima'],
  ...['Achird', 'Zubenelgenubi', 'Vindemiatrix', 'Sadachbia', 'Sadaltager', 'Sulafat'],
];
const LOWEST_HZ = 90;
const HZ_RANGE = 140;
const MAX_SPEAKERS = 2;

/** A picture of the wanted shape that shows the prompt, or why there is none. */
export async function imageAnswer(
  exchange: SandboxExchange,
  request: ContentRequest,
): Promise<object> {
  const { aspectRatio = '1:1', imageSize = '1K' } = asRecord(request.config.imageConfig) ?? {};
  const shape = SHAPES[String(aspectRatio)];
  const scale = SCALES[String(imageSize)];
  if (shape === undefined || scale === undefined) {
    return refuseContent('Invalid shape or size', 'generation_config.image_config');
  }
  const content = { id: exchange.requestId, request };
  if (exchange.magic.has('refuse') || exchange.magic.has('no-data')) {
    const finishReason = exchange.magic.has('refuse') ? 'IMAGE_SAFETY' : 'NO_IMAGE';
    return contentAnswer(content, { parts: [], finishReason, usage: usageOf(request, 0) });
  }
  const [width, height] = shape;
  const shown = Magic.strip(request.lastUserText);
  const png = await encodePng(promptPicture(shown, width * scale, height * scale));
  const parts = [{ inlineData: { mimeType: 'image/png', data: png.toString('base64') } }];
  const usage = usageOf(request, TOKENS_PER_IMAGE);
  return contentAnswer(content, { parts, finishReason: 'STOP', usage });
}

/** Speech of one voice, or of the two of a conversation, as raw samples. */
export async function audioAnswer(
  exchange: SandboxExchange,
  request: ContentRequest,
): Promise<object> {
  const voices = voicesOf(request.config.speechConfig);
  const content = { id: exchange.requestId, request };
  if (exchange.magic.has('wrong-format')) {
    const parts = [{ text: 'I cannot speak.' }];
    return contentAnswer(content, { parts, finishReason: 'STOP', usage: usageOf(request, 4) });
  }
  const text = Magic.strip(request.lastUserText);
  const sound = exchange.magic.has('instant')
    ? speechOfLength(text, INSTANT_SECONDS, deliveryOf(voices[0]?.voice ?? ''))
    : soundOf(text, voices);
  const samples = await encodedFile(sound, L16, '');
  const inlineData = {
    mimeType: 'audio/L16;codec=pcm;rate=24000',
    data: samples.toString('base64'),
  };
  const usage = usageOf(request, Math.ceil(sound.seconds * TOKENS_PER_SECOND));
  return contentAnswer(content, { parts: [{ inlineData }], finishReason: 'STOP', usage });
}

interface Speaker {
  /** Empty where there is one voice alone. */
  readonly name: string;
  readonly voice: string;
}

function voicesOf(value: unknown): Speaker[] {
  const path = 'generation_config.speech_config';
  const config = asRecord(value) ?? {};
  const several = asRecord(config.multiSpeakerVoiceConfig)?.speakerVoiceConfigs;
  const speakers = asArray(several) ?? [{ speaker: '', voiceConfig: config.voiceConfig }];
  if (several !== undefined && speakers.length !== MAX_SPEAKERS)
    refuseContent('multi_speaker_voice_config must have exactly 2 speakers', path);
  return speakers.map((entry) => {
    const { speaker, voiceConfig } = asRecord(entry) ?? {};
    const { voiceName } = asRecord(asRecord(voiceConfig)?.prebuiltVoiceConfig) ?? {};
    if (typeof voiceName !== 'string' || !VOICES.includes(voiceName))
      return refuseContent('Voice name is not supported.', path);
    return { name: typeof speaker === 'string' ? speaker : '', voice: voiceName };
  });
}

/** What stands after the instruction; of a conversation each line in the voice of its speaker. */
function soundOf(text: string, voices: readonly Speaker[]): Waveform {
  const said = text.replace(/^[^:\n]*:\s*/, '');
  const [first] = voices;
  const lines = said.split('\n').map((line) => {
    const speaker = voices.find(({ name }) => name !== '' && line.startsWith(`${name}:`));
    const words = speaker ? line.slice(speaker.name.length + 1).trim() : line;
    return speechSound(words, deliveryOf((speaker ?? first)?.voice ?? ''));
  });
  return joinSounds(lines);
}

function deliveryOf(voice: string) {
  return { pitchHz: LOWEST_HZ + (hashText(voice) % HZ_RANGE), speed: 1, seed: hashText(voice) };
}

function usageOf({ texts }: ContentRequest, candidatesTokenCount: number): object {
  const promptTokenCount = countPromptTokens(texts);
  const totalTokenCount = promptTokenCount + candidatesTokenCount;
  return { promptTokenCount, candidatesTokenCount, totalTokenCount };
}
