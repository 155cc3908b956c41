const CHAT = 'Use POST /v1/chat/completions';
const NOT_OFFERED = 'is not offered; GET /v1/models lists the models and their endpoint types';
const IMAGES =
  'Use POST /v1/images/generations; or POST /v1/images/edits for images made of others.';
const FILES = `Storage of files ${NOT_OFFERED}; recordings are sent with the call that needs them.`;
const RERANK = `Reranking ${NOT_OFFERED}.`;
const MESSAGES = 'Use POST /v1/messages.';
const GEMINI = `The Gemini API is not offered. ${CHAT} with a client of the OpenAI API.`;
const OLLAMA = `The Ollama API is not offered. ${CHAT} with a client of the OpenAI API, and GET /v1/models for the models.`;
const BASE_URL = 'The base URL of a client of the OpenAI API ends with /v1 here';
const AZURE = `${BASE_URL}, without /openai/deployments: use the plain OpenAI client, not the one for Azure.`;

/**
 * Paths that stock clients call and this gateway does not have, with what to use instead: of the OpenAI API, and of
 * vendors and programs whose clients are configured for gateways. `*` stands for one segment; a path also stands for
 * all below.
 */
const ADVICE: readonly (readonly [path: string, advice: string])[] = [
  ['/v1/conversations', 'Use POST /v1/responses with `previous_response_id`.'],
  ['/v1/completions', `${CHAT}.`],
  ['/v1/fim/completions', `${CHAT}.`],
  ['/v1/assistants', `${CHAT}.`],
  ['/v1/threads', `${CHAT} and send the earlier messages along.`],
  ['/v1/realtime', `${CHAT} with \`stream\`, and POST /v1/audio/speech for the voice.`],
  ['/v1/images/variations', IMAGES],
  [
    '/v1/videos/*/remix',
    'Use POST /v1/videos; a video is made from a prompt and a reference image only.',
  ],
  ['/v1/audio/translations', 'Use POST /v1/audio/transcriptions, which keeps the language.'],
  ['/v1/audio/voices', 'Use GET /v1/voices.'],
  ['/v1/moderations', `Moderation ${NOT_OFFERED}.`],
  ['/v1/rerank', RERANK],
  ['/v2/rerank', RERANK],
  ['/v1/files', FILES],
  ['/v1/uploads', FILES],
  ['/v1/batches', `A batch ${NOT_OFFERED}; send the calls one by one.`],
  ['/v1/vector_stores', `A vector store ${NOT_OFFERED}.`],
  ['/v1/fine_tuning', `Fine-tuning ${NOT_OFFERED}.`],
  ['/v1/evals', `Evaluation ${NOT_OFFERED}.`],
  ['/v1/containers', `A container ${NOT_OFFERED}.`],
  ['/v1/generation', 'Use GET /v1/executions/{id}, with the id of `x-gateway-execution-id`.'],
  ['/v1/auth/key', 'Use GET /v1/key.'],
  ['/v1/messages/batches', `A batch ${NOT_OFFERED}; send the calls one by one.`],
  ['/v1/complete', MESSAGES],
  ['/v1beta', GEMINI],
  ['/v1alpha', GEMINI],
  ['/v1/text-to-speech', 'Use POST /v1/audio/speech, with the voice in the body.'],
  ['/v1/text-to-dialogue', 'Use POST /v1/audio/dialogue.'],
  ['/v1/speech-to-text', 'Use POST /v1/audio/transcriptions.'],
  ['/v1/speech-to-speech', 'Use POST /v1/audio/voice-changer, with the voice in the body.'],
  ['/v1/sound-generation', 'Use POST /v1/audio/sound-effects.'],
  ['/v1/audio-isolation', 'Use POST /v1/audio/isolation.'],
  ['/v1/forced-alignment', 'Use POST /v1/audio/alignment.'],
  ['/v1/dubbing', 'Use POST /v1/audio/dubbing.'],
  ['/v1/music', 'Use POST /v1/audio/music, or POST /v1/music/generations for songs.'],
  ['/v1/user', 'Use GET /v1/account.'],
  ['/v2/voices', 'Use GET /v1/voices.'],
  ['/openai/deployments', AZURE],
  ['/openai/responses', AZURE],
  ['/openai/v1', `${BASE_URL}, without /openai.`],
  ['/api/v1', `${BASE_URL}, without /api.`],
  ['/api/tags', OLLAMA],
  ['/api/chat', OLLAMA],
  ['/api/generate', OLLAMA],
  ['/api/show', OLLAMA],
  ['/api/version', OLLAMA],
  ['/api/ps', OLLAMA],
  ['/api/embed', OLLAMA],
  ['/api/embeddings', OLLAMA],
];
const LACKS_V1 = 'Paths begin with /v1: the base URL of the client lacks it.';
const ENDS_WITH_V1 = 'The base URL of the client ends with /v1 already.';
const HAS_EMPTY_SEGMENT =
  'The path has two slashes in a row: the base URL of the client must not end with one.';
const ROOT =
  'This is where paths begin: GET /v1/models lists the models, GET /docs describes all calls.';

/**
 * The hint for a path that does not exist; undefined if there is none. `exists` tells whether another path exists, for
 * clients whose base URL lacks `/v1`, contains it twice or ends with a slash.
 */
export function hintFor(path: string, exists: (path: string) => boolean): string | undefined {
  if (/^\/v1\/*$/.test(path)) return ROOT;
  const plain = path.replaceAll(/\/{2,}/g, '/');
  const [reason, meant] = misspelt(plain, (other) => exists(other) || rowOf(other) !== undefined);
  const parts = [plain === path ? undefined : HAS_EMPTY_SEGMENT, reason, rowOf(meant)];
  const hints = parts.filter((part) => part !== undefined);
  // Double slashes explain nothing if the path without them is unknown too.
  return reason !== undefined || rowOf(meant) !== undefined || (plain !== path && exists(plain))
    ? hints.join(' ')
    : undefined;
}

/** Methods that a path lacks although clients try them, with what to use instead. `:` stands for a verb of Gemini. */
const METHOD_ADVICE: readonly (readonly [method: string, path: RegExp, advice: string])[] = [
  ['POST', /^\/v1\/models\/[^/]+:[a-zA-Z]+$/, GEMINI],
  ['DELETE', /^\/v1\/models\//, 'A model of the gateway cannot be deleted.'],
  ['GET', /^\/v1\/videos$/, 'GET /v1/tasks lists videos and other tasks.'],
  [
    'DELETE',
    /^\/v1\/videos\//,
    'A video cannot be deleted: its file goes at `expires_at`. POST /v1/tasks/{id}/cancel cancels one that has not begun.',
  ],
  [
    'GET',
    /^\/v1\/chat\/completions$/,
    'Completions are not stored; GET /v1/executions lists the calls.',
  ],
];
const PREFLIGHT =
  'If a browser asks: the origin of its page is not in CORS_ORIGINS, which the operator sets.';

/** The hint for a method that an existing path does not have. */
export function methodHint(method: string, path: string, methods: readonly string[]): string {
  const row = METHOD_ADVICE.find(([known, pattern]) => known === method && pattern.test(path));
  const advice = row?.[2] ?? (method === 'OPTIONS' ? PREFLIGHT : undefined);
  const use = `${method} is not allowed here; use ${methods.join(' or ')}.`;
  return advice === undefined ? use : `${use} ${advice}`;
}

/** Why the path is wrong, and the path that was meant. */
function misspelt(
  path: string,
  isKnown: (path: string) => boolean,
): [reason: string | undefined, meant: string] {
  const single = path.replace(/^(\/v1)+(?=\/v1\/)/, '');
  if (single !== path && isKnown(single)) return [ENDS_WITH_V1, single];
  if (!isKnown(path) && isKnown(`/v1${path}`)) return [LACKS_V1, `/v1${path}`];
  return [undefined, path];
}

function rowOf(path: string): string | undefined {
  const segments = path.split('/');
  const row = ADVICE.find(([known]) =>
    known.split('/').every((word, index) => word === '*' || word === segments[index]),
  );
  return row?.[1];
}
