import { PAID_ENDPOINTS } from './paid-endpoints.js';
import { wavFile } from '../media/wav-file.js';

/** Makes the sandbox wait before it answers. */
const WAITING = '[[sandbox:delay=300]]';
const PACED = '[[sandbox:pace=30]]';
const NOTHING = Buffer.alloc(0);

/** A request as its parts: method, path, content type, body. */
type CallParts = readonly [string, string, string, Buffer];

const json = (path: string, body: object): CallParts => [
  'POST',
  path,
  'application/json',
  Buffer.from(JSON.stringify(body)),
];
const chat = (content: string, stream: boolean): CallParts =>
  json('/v1/chat/completions', {
    model: 'gen-5-mini',
    stream,
    messages: [{ role: 'user', content }],
  });
const part = (name: string, text: string): string =>
  `--B\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${text}\r\n`;
const form = (path: string, fields: Readonly<Record<string, string>>): CallParts => [
  'POST',
  path,
  'multipart/form-data; boundary=B',
  Buffer.concat([
    Buffer.from(
      Object.entries(fields)
        .map(([name, text]) => part(name, text))
        .join('') + '--B\r\nContent-Disposition: form-data; name="file"; filename="a.wav"\r\n\r\n',
    ),
    wavFile(200_000),
    Buffer.from('\r\n--B--\r\n'),
  ]),
];

/**
 * One of each kind of endpoint, with a request that works.
 * @param videoId a video whose file is kept
 * @param mediaUrl a recording that the gateway may download
 */
export function sampleCalls(videoId: string, mediaUrl: string) {
  const transcription = PAID_ENDPOINTS.find(({ path }) => path === '/v1/audio/transcriptions');
  return {
    JSON: chat(WAITING, false),
    events: chat(`${WAITING}${PACED}`, true),
    audio: json('/v1/audio/speech', {
      model: 'aud-v4',
      input: `${WAITING}[[sandbox:slow=20]]Hello there, all of you`,
      voice: 'Adam',
    }),
    image: json('/v1/images/generations', { model: 'gen-image-2', prompt: 'A lighthouse' }),
    upload: form('/v1/audio/isolation', { model: 'aud-voice-isolator' }),
    'download of a recording': json(
      '/v1/audio/transcriptions',
      transcription?.body(mediaUrl) ?? {},
    ),
    'task with a file': json('/v1/audio/dubbing', {
      model: 'aud-dubbing-v1',
      source_url: mediaUrl,
      target_language: 'de',
    }),
    task: json('/v1/videos', {
      model: 'vid-motion',
      prompt: 'The sea [[sandbox:task-ms=1]]',
      seconds: '5',
    }),
    download: ['GET', `/v1/videos/${videoId}/content`, 'text/plain', NOTHING] as CallParts,
  };
}
