import type { ServerResponse } from 'node:http';
import type { SeenRequest } from '../../support/stub-upstream.js';
import { event } from '../../support/chat-upstream-harness.js';
import { delta, type Dialect, DONE, says, STOP, wholeAnswer } from './dialect.js';

const isStream = ({ body }: SeenRequest): boolean =>
  (JSON.parse(body.toString()) as { stream?: boolean }).stream === true;

const REFUSED = { status: 400, code: 'provider_rejected_request' };
const LIMITED = { status: 429, code: 'provider_rate_limited' };
const OVERLOADED = { status: 503, code: 'provider_unavailable' };
const OURS = { status: 503, code: 'provider_unavailable' };
const BROKEN = { status: 502, code: 'provider_http_error' };

/** An answer of a status that says what went wrong, to streams and to others. */
const answered = (
  what: string,
  status: number,
  body: unknown,
  wanted: Dialect['wanted'],
): Dialect => ({
  kind: 'errors',
  what,
  reply: (response) => {
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  },
  wanted,
});

/** The same in a 200: as the answer, or as the first event of the stream. */
const inside = (what: string, body: object, wanted: Dialect['wanted']): Dialect => ({
  kind: 'errors',
  what: `${what}, in a 200`,
  reply: (response, request) => {
    response.end(isStream(request) ? event(body) : JSON.stringify(body));
  },
  wanted,
});

const ERRORS: readonly Dialect[] = [
  answered(
    'an object with message, type, param and code (OpenAI)',
    400,
    { error: { message: 'Bad.', type: 'invalid_request_error', code: 'unsupported_value' } },
    REFUSED,
  ),
  answered('a text (Ollama)', 400, { error: 'model does not support tools' }, REFUSED),
  answered(
    'a list with an object (Gemini’s compatible endpoint)',
    429,
    [{ error: { code: 429, status: 'RESOURCE_EXHAUSTED', details: [{ retryDelay: '34s' }] } }],
    { ...LIMITED, retryAfter: '34' },
  ),
  answered(
    'our key, as a bad request (Gemini)',
    400,
    { error: { code: 400, message: 'API key not valid.', status: 'INVALID_ARGUMENT' } },
    OURS,
  ),
  answered(
    'our balance, as a bad request (Anthropic)',
    400,
    {
      type: 'error',
      error: { type: 'invalid_request_error', message: 'Your credit balance is too low.' },
    },
    OURS,
  ),
  answered(
    'overload under a status of its own (Anthropic)',
    529,
    { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } },
    OVERLOADED,
  ),
  answered('a detail in words (FastAPI)', 422, { detail: 'max_tokens is too large' }, REFUSED),
  answered(
    'details as a list (FastAPI)',
    422,
    { detail: [{ loc: ['body', 'temperature'], msg: 'too large', type: 'value_error' }] },
    REFUSED,
  ),
  answered(
    'a detail with a status (ElevenLabs)',
    401,
    { detail: { status: 'quota_exceeded', message: 'No credits.' } },
    OURS,
  ),
  answered('a code beside a text (xAI)', 400, { code: 'invalid-argument', error: 'Bad.' }, REFUSED),
  answered('a message alone', 400, { message: 'Bad.', request_id: 'r1' }, REFUSED),
  answered(
    'a model that is loading (Hugging Face)',
    503,
    { error: 'Model is currently loading', estimated_time: 20 },
    { ...OVERLOADED, retryAfter: '20' },
  ),
  answered('a page of HTML', 502, '<html><body>Bad gateway</body></html>', BROKEN),
  answered('nothing', 500, '', BROKEN),
  inside('an error (OpenRouter)', { error: { code: 429, message: 'Slow down.' } }, LIMITED),
  inside(
    'a number of its own (MiniMax)',
    { base_resp: { status_code: 1002, status_msg: 'rate limit' } },
    LIMITED,
  ),
  inside(
    'overload (Anthropic)',
    { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } },
    OVERLOADED,
  ),
  {
    kind: 'errors',
    what: 'an error in a choice (OpenRouter)',
    events: [delta({}, { error: { code: 502, message: 'Bad.' }, finish_reason: 'error' }), DONE],
    answer: wholeAnswer(
      { content: '' },
      { error: { code: 502, message: 'Bad.' }, finish_reason: 'error' },
    ),
    wanted: BROKEN,
  },
];

const USAGE = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 };
const ENDED = { text: 'Hi', reason: 'stop', usage: [3, 2] } as const;
const TOLD = { choices: [], usage: USAGE };

/** Writes the events, then leaves the connection as `end` does. */
const ends = (
  what: string,
  events: readonly unknown[],
  end: (response: ServerResponse) => void,
): Dialect => ({
  kind: 'ends',
  what,
  events,
  reply: (response, request) => {
    if (!isStream(request)) {
      response.end(JSON.stringify(wholeAnswer({ content: 'Hi' }, {}, { usage: USAGE })));
      return;
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const text = events.map((each) => (typeof each === 'string' ? each : event(each))).join('');
    response.write(text, () => {
      end(response);
    });
  },
  wanted: ENDED,
});

const ENDS: readonly Dialect[] = [
  ends('no [DONE]', [says('Hi'), STOP, TOLD], (response) => response.end()),
  ends('[DONE] with a blank', [says('Hi'), STOP, TOLD, 'data: [DONE] \n\n'], (response) =>
    response.end(),
  ),
  ends('a reset after the usage', [says('Hi'), STOP, TOLD], (response) =>
    response.socket?.resetAndDestroy(),
  ),
  ends('a connection that stays open', [says('Hi'), STOP, TOLD], () => undefined),
];

/** Errors in every shape, and ends of streams. */
export const ERROR_DIALECTS: readonly Dialect[] = [...ERRORS, ...ENDS];
