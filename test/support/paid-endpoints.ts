/** A synchronous endpoint that is paid for, with a JSON request that works. */
export interface PaidEndpoint {
  readonly path: string;
  /** A request that works; recordings are fetched from `recordingUrl`. */
  readonly body: (recordingUrl: string) => Readonly<Record<string, unknown>>;
  readonly model: string;
  /** What it costs, micro-USD; undefined where that is known only afterwards. */
  readonly price: bigint | undefined;
  /** A known model that does not run here. */
  readonly otherModel: string;
  /** The family that words 402, 404 and the wrong endpoint its own way. */
  readonly surface: 'audio' | 'general';
}

/** A spoken `Hello`. */
export const HELLO = { model: 'aud-v4', input: 'Hello', voice: 'Adam' } as const;

/** Of a recording that bills as 13 s. */
const SECONDS = 13n;

function audio(
  path: string,
  model: string,
  price: bigint,
  fields: object,
  takesRecording = false,
): PaidEndpoint {
  return {
    path: `/v1/audio/${path}`,
    body: (recordingUrl) => ({
      model,
      ...fields,
      ...(takesRecording && { audio_url: recordingUrl }),
    }),
    model,
    price,
    otherModel: 'aud-dubbing-v1',
    surface: 'audio',
  };
}

const recording = (path: string, model: string, perSecond: bigint, fields: object = {}) =>
  audio(path, model, perSecond * SECONDS, fields, true);

/** Every synchronous audio endpoint. */
export const PAID_AUDIO_ENDPOINTS: readonly PaidEndpoint[] = [
  audio('speech', 'aud-v4', 600n, { input: 'Hello', voice: 'Adam' }),
  audio('dialogue', 'aud-v4-dialogue', 240n, { inputs: [{ text: 'Hi', voice: 'Adam' }] }),
  audio('sound-effects', 'aud-sound-effects-v2', 3_000n, { prompt: 'Rain', duration_seconds: 1 }),
  audio('music', 'aud-music-v2.5', 11_250n, { prompt: 'A piano', duration_seconds: 3 }),
  recording('transcriptions', 'aud-transcribe-v2', 92n),
  recording('alignment', 'aud-forced-alignment', 92n, { text: 'Hello there' }),
  recording('voice-changer', 'aud-english-sts-v2', 3_000n, { voice: 'Adam' }),
  recording('isolation', 'aud-voice-isolator', 3_000n),
];

/** Every synchronous endpoint, for the rules that hold on all. */
export const PAID_ENDPOINTS: readonly PaidEndpoint[] = [
  ...PAID_AUDIO_ENDPOINTS,
  {
    path: '/v1/chat/completions',
    body: () => ({ model: 'gen-5-mini', messages: [{ role: 'user', content: 'Hi' }] }),
    model: 'gen-5-mini',
    price: undefined,
    otherModel: 'gen-image-2',
    surface: 'general',
  },
  {
    path: '/v1/images/generations',
    body: () => ({ model: 'gen-image-2', prompt: 'A lighthouse' }),
    model: 'gen-image-2',
    price: 10_000n,
    otherModel: 'gen-5',
    surface: 'general',
  },
];

/** What a holder of a key may read. */
export const READ_PATHS = ['/v1/models', '/v1/models/aud-v4', '/v1/account'] as const;
