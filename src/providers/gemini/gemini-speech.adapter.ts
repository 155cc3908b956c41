import type { JsonObject } from '../../common/json-object.js';
import type { ProviderHttp } from '../http/provider-http.js';
import type { AttemptContext } from '../ports/attempt.js';
import type {
  AudioFormat,
  DialogueCommand,
  DialoguePort,
  ProviderAudio,
  SpeechCommand,
  SpeechPort,
} from '../ports/audio.port.js';
import { answerIdOf, candidateOf, candidateParts, inlineDataOf } from './gemini-candidate.js';
import { generateContent, seedOf } from './generate-content.js';
import { type L16Speech, roomFor, SPEECH_HZ, speechBody } from '../http/l16-speech.js';

/** Eleven minutes of speech, which is more than any model makes at once, take 43 MB in base64. */
const MAX_SPEECH_RESPONSE_BYTES = 64 * 1024 * 1024;
/** The vendor takes one voice or two, no more. */
const DIALOGUE_VOICES = 2;
/** Without an instruction, a model may answer a text instead of reading it. */
const READ_ALOUD = 'Say the following:';
const READ_DIALOGUE = 'TTS the following conversation between';
const L16 = /^audio\/(?:L16|pcm)\b/i;
const RATE = /;\s*rate=(\d{4,6})\b/i;

/** What is to be spoken, and by whom. */
interface Script {
  readonly text: string;
  readonly speechConfig: object;
  readonly format: AudioFormat;
  readonly seed: number | undefined;
}

/** Speech of one voice and dialogues of two over Gemini's `generateContent`. */
export class GeminiSpeech implements SpeechPort, DialoguePort {
  constructor(private readonly http: ProviderHttp) {}

  speak(command: SpeechCommand, context: AttemptContext): Promise<ProviderAudio> {
    const { text, voiceId, format, seed } = command;
    const speechConfig = { voiceConfig: voiceConfigOf(voiceId) };
    return this.read({ text: `${READ_ALOUD} ${text}`, speechConfig, format, seed }, context);
  }

  async speakDialogue(command: DialogueCommand, context: AttemptContext): Promise<ProviderAudio> {
    const { lines, format, seed } = command;
    const voices = [...new Set(lines.map(({ voiceId }) => voiceId))];
    const [only = ''] = voices;
    if (voices.length > DIALOGUE_VOICES) throw this.http.refusal('too_many_voices');
    if (voices.length === 1) {
      const text = lines.map((line) => line.text).join('\n');
      return this.speak({ text, voiceId: only, format, seed }, context);
    }
    const nameOf = (voiceId: string): string => `Speaker${voices.indexOf(voiceId) + 1}`;
    const script = lines.map(({ text, voiceId }) => `${nameOf(voiceId)}: ${text}`);
    const names = voices.map(nameOf).join(' and ');
    const speechConfig = {
      multiSpeakerVoiceConfig: {
        speakerVoiceConfigs: voices.map((voiceId) => ({
          speaker: nameOf(voiceId),
          voiceConfig: voiceConfigOf(voiceId),
        })),
      },
    };
    const text = `${READ_DIALOGUE} ${names}:\n${script.join('\n')}`;
    return this.read({ text, speechConfig, format, seed }, context);
  }

  private async read(
    { text, speechConfig, format, seed }: Script,
    context: AttemptContext,
  ): Promise<ProviderAudio> {
    using room = roomFor(format, context, this.http);
    const body = {
      contents: [{ role: 'user', parts: [{ text }] }],
      generationConfig: { responseModalities: ['AUDIO'], speechConfig, seed: seedOf(seed) },
    };
    const request = generateContent(body, 'audio', context);
    const { speech, providerRequestId } = await this.http.requestJson(
      request,
      MAX_SPEECH_RESPONSE_BYTES,
      toSpeech,
    );
    return { body: await speechBody(speech, format, room), providerRequestId };
  }
}

function voiceConfigOf(voiceName: string): object {
  return { prebuiltVoiceConfig: { voiceName } };
}

/** Undefined for an answer without speech, or with speech at another rate than callers are promised. */
function toSpeech(
  json: JsonObject,
  providerRequestId: string | null,
): { readonly speech: L16Speech; readonly providerRequestId: string | null } | undefined {
  const pieces = candidateParts(candidateOf(json)).flatMap((part) => inlineDataOf(part) ?? []);
  if (pieces.length === 0 || !pieces.every(({ mimeType }) => isSpeech(mimeType))) return undefined;
  const bytes = Buffer.concat(pieces.map(({ base64 }) => Buffer.from(base64, 'base64')));
  const samples = bytes.subarray(0, bytes.length & ~1);
  if (samples.length === 0) return undefined;
  const speech = { samples, sampleRate: SPEECH_HZ };
  return { speech, providerRequestId: answerIdOf(json, providerRequestId) };
}

function isSpeech(mimeType: string): boolean {
  const rate = RATE.exec(mimeType)?.[1];
  return L16.test(mimeType) && (rate === undefined || Number(rate) === SPEECH_HZ);
}
