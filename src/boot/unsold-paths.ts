const CHAT = 'Use POST /v1/chat/completions';
const NOT_OFFERED = 'is not offered; GET /v1/models lists the models and their endpoint types';
const VIDEO = /^\/v1\/videos\/[^/]+\//;

/** Paths that stock clients of the OpenAI API call and this gateway does not have, with what to use instead. */
const ADVICE: readonly (readonly [path: string, advice: string])[] = [
  [
    '/v1/responses',
    `${CHAT}: \`openai.chat(model)\` in the AI SDK, \`client.chat.completions.create\` in the OpenAI SDKs.`,
  ],
  ['/v1/conversations', `${CHAT} and send the earlier messages along.`],
  ['/v1/completions', `${CHAT}.`],
  ['/v1/assistants', `${CHAT}.`],
  ['/v1/threads', `${CHAT} and send the earlier messages along.`],
  ['/v1/realtime', `${CHAT} with \`stream\`, and POST /v1/audio/speech for the voice.`],
  ['/v1/images/edits', 'Use POST /v1/images/generations; images are made from a text only.'],
  ['/v1/images/variations', 'Use POST /v1/images/generations; images are made from a text only.'],
  [
    '/v1/videos/{id}/remix',
    'Use POST /v1/videos; a video is made from a prompt and a reference image only.',
  ],
  ['/v1/audio/translations', 'Use POST /v1/audio/transcriptions, which keeps the language.'],
  ['/v1/audio/voices', 'Use GET /v1/voices.'],
  ['/v1/embeddings', `An embedding ${NOT_OFFERED}.`],
  ['/v1/moderations', `Moderation ${NOT_OFFERED}.`],
  [
    '/v1/files',
    `Storage of files ${NOT_OFFERED}; recordings are sent with the call that needs them.`,
  ],
  [
    '/v1/uploads',
    `Storage of files ${NOT_OFFERED}; recordings are sent with the call that needs them.`,
  ],
  ['/v1/batches', `A batch ${NOT_OFFERED}; send the calls one by one.`],
  ['/v1/vector_stores', `A vector store ${NOT_OFFERED}.`],
  ['/v1/fine_tuning', `Fine-tuning ${NOT_OFFERED}.`],
  ['/v1/evals', `Evaluation ${NOT_OFFERED}.`],
  ['/v1/containers', `A container ${NOT_OFFERED}.`],
];

/**
 * The advice for a path that does not exist; undefined without any. `exists` tells whether another path exists, for
 * clients whose base URL lacks `/v1` or contains it twice.
 */
export function adviceFor(path: string, exists: (path: string) => boolean): string | undefined {
  const plain = path.replace(VIDEO, '/v1/videos/{id}/');
  const row = ADVICE.find(([known]) => plain === known || plain.startsWith(`${known}/`));
  if (row) return row[1];
  if (exists(`/v1${path}`)) return 'Paths begin with /v1: the base URL of the client lacks it.';
  const isDoubled = path.startsWith('/v1/v1/') && exists(path.slice('/v1'.length));
  return isDoubled ? 'The base URL of the client ends with /v1 already.' : undefined;
}
