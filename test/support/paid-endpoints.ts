import {
  ALIGNMENT,
  type AudioOperation,
  DIALOGUE,
  ISOLATION,
  MUSIC,
  SOUND_EFFECTS,
  TRANSCRIPTION,
  VOICE_CHANGER,
} from './audio-operations.js';

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
  /** The family, which decides the codes for 402, 404 and the wrong endpoint. */
  readonly surface: 'audio' | 'general';
}

/** A spoken `Hello`. */
export const HELLO = { model: 'aud-v4', input: 'Hello', voice: 'Adam' } as const;

/** The recording behind `recordingUrl` bills as 13 s; the prices of the table are for ten. */
const TENTHS = 13n;

/** The row of the table of audio operations as a JSON request. */
function audio({ path, body, price, takesRecording }: AudioOperation): PaidEndpoint {
  return {
    path,
    body: (recordingUrl) => ({ ...body, ...(takesRecording && { audio_url: recordingUrl }) }),
    model: body.model,
    price: takesRecording ? (price / 10n) * TENTHS : price,
    otherModel: 'aud-dubbing-v1',
    surface: 'audio',
  };
}

/** The row with other fields. */
const withFields = (row: AudioOperation, fields: object, price = row.price): AudioOperation => ({
  ...row,
  body: { ...row.body, ...fields },
  price,
});

/** Every synchronous audio endpoint; a recording is sent by its URL. */
export const PAID_AUDIO_ENDPOINTS: readonly PaidEndpoint[] = [
  audio({ path: '/v1/audio/speech', body: HELLO, price: 600n, wrongModel: 'aud-v4-dialogue' }),
  audio(DIALOGUE),
  audio(withFields(SOUND_EFFECTS, { duration_seconds: 1 }, 3_000n)),
  audio(withFields(MUSIC, { duration_seconds: 3 }, 11_250n)),
  audio(TRANSCRIPTION),
  audio(ALIGNMENT),
  audio(withFields(VOICE_CHANGER, { model: 'aud-english-sts-v2' })),
  audio(ISOLATION),
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
    path: '/v1/responses',
    body: () => ({ model: 'gen-5-mini', input: 'Hi' }),
    model: 'gen-5-mini',
    price: undefined,
    otherModel: 'gen-image-2',
    surface: 'general',
  },
  {
    path: '/v1/messages',
    body: () => ({
      model: 'gen-5-mini',
      max_tokens: 100,
      messages: [{ role: 'user', content: 'Hi' }],
    }),
    model: 'gen-5-mini',
    price: undefined,
    otherModel: 'gen-image-2',
    surface: 'general',
  },
  {
    path: '/v1/embeddings',
    body: () => ({ model: 'gen-embed-demo', input: 'Hi' }),
    model: 'gen-embed-demo',
    price: 1n,
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

/** The endpoints that make tasks, each with a model it knows and its code of an invalid body. */
export const TASK_SUBMISSIONS = [
  { path: '/v1/audio/dubbing', model: 'aud-dubbing-v1', invalid: 'invalid_request' },
  { path: '/v1/music/generations', model: 'song-lyrics', invalid: 'invalid_music_request' },
  { path: '/v1/videos', model: 'vid-omni', invalid: 'invalid_request' },
] as const;

/** Reads of a task that nobody has. The second id cannot be decoded. */
export const TASK_READS = [`task_${'0'.repeat(32)}`, '%ff'].flatMap((id) => [
  `/v1/tasks/${id}`,
  `/v1/tasks/${id}/content`,
  `/v1/videos/${id}`,
  `/v1/videos/${id}/content`,
]);

/** What a holder of a key may read. */
export const READ_PATHS = ['/v1/models', '/v1/models/aud-v4', '/v1/account'] as const;
