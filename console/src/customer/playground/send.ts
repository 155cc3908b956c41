import { ApiProblem, CONSOLE_PATH, problemOf } from '../../shared/api.js';
import type { FilledBody } from './fields.js';
import { eventsOf, type StreamedEvent } from './events.js';

/** What came back: a stream that has ended, JSON, a file, or a text. */
export type Outcome =
  | { readonly kind: 'stream'; readonly events: readonly unknown[] }
  | { readonly kind: 'json'; readonly value: unknown }
  | { readonly kind: 'file'; readonly blob: Blob; readonly name: string }
  | { readonly kind: 'text'; readonly text: string };

/** An answer of the gateway with what its headers tell. */
export interface Answered {
  readonly outcome: Outcome;
  readonly executionId: string | undefined;
  /** Micro-USD; undefined where the call tells it later. */
  readonly charged: string | undefined;
  readonly isOfSandbox: boolean;
}

/** A call as the form has it. */
export interface FormCall {
  readonly path: string;
  readonly isForm: boolean;
  readonly model: string;
  readonly body: FilledBody;
}

interface Listening {
  readonly signal: AbortSignal;
  /** Gets each piece of a streamed text. */
  readonly onText: (piece: string) => void;
}

const MOST_EVENTS = 2_000;
const SERVER_FAULT = 500;

/** What takes an idempotency key: the same submission makes one task. */
const SUBMISSIONS = ['/v1/videos', '/v1/music/generations', '/v1/audio/dubbing'];
/** The last submission of which it is not known what came. */
let unanswered: { readonly text: string; readonly key: string } | undefined;

/** The key of a submission: the one before for the same call, if that was not answered. */
function submissionKey(call: FormCall): string | undefined {
  if (!SUBMISSIONS.includes(call.path)) return undefined;
  const text = call.path + JSON.stringify(jsonBodyOf(call));
  if (unanswered?.text !== text) unanswered = { text, key: crypto.randomUUID() };
  return unanswered.key;
}

/** Sends the call through the session of the page. Throws an {@link ApiProblem}, or an `AbortError` when it was ended. */
export async function sendCall(call: FormCall, { signal, onText }: Listening): Promise<Answered> {
  const { headers: own, body } = bodyOf(call);
  const key = submissionKey(call);
  const response = await fetch(`${CONSOLE_PATH}/api${call.path}`, {
    body,
    headers: { ...own, ...(key !== undefined && { 'idempotency-key': key }) },
    method: 'POST',
    credentials: 'same-origin',
    signal,
  }).catch((cause: unknown) => {
    throw isAbort(cause) ? cause : new ApiProblem('The gateway cannot be reached.', 0);
  });
  if (response.status < SERVER_FAULT) unanswered = undefined;
  if (!response.ok) {
    throw problemOf(response, await response.json().catch(() => undefined));
  }
  const { headers } = response;
  return {
    outcome: await outcomeOf(response, call, onText),
    executionId: headers.get('x-gateway-execution-id') ?? undefined,
    charged: headers.get('x-gateway-charge-microusd') ?? undefined,
    isOfSandbox: headers.get('x-gateway-sandbox') === 'true',
  };
}

/** Whether something ended because it was told to. */
export const isAbort = (cause: unknown): boolean =>
  cause instanceof DOMException && cause.name === 'AbortError';

/** The JSON of a call. */
export const jsonBodyOf = ({ model, body }: FormCall): Readonly<Record<string, unknown>> => ({
  model,
  ...body.fields,
});

function bodyOf(call: FormCall): {
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: BodyInit;
} {
  if (!call.isForm) {
    const headers = { 'content-type': 'application/json' };
    return { headers, body: JSON.stringify(jsonBodyOf(call)) };
  }
  const form = new FormData();
  for (const [name, value] of Object.entries(jsonBodyOf(call))) {
    for (const one of [value].flat()) form.append(name, String(one));
  }
  for (const [name, file] of Object.entries(call.body.files)) form.append(name, file, file.name);
  return { body: form };
}

async function outcomeOf(
  response: Response,
  call: FormCall,
  onText: (piece: string) => void,
): Promise<Outcome> {
  const type = response.headers.get('content-type') ?? '';
  if (type.startsWith('text/event-stream'))
    return { kind: 'stream', events: await followed(response, onText) };
  if (type.includes('json')) return { kind: 'json', value: (await response.json()) as unknown };
  if (type.startsWith('text/')) return { kind: 'text', text: await response.text() };
  return { kind: 'file', blob: await response.blob(), name: fileNameOf(response, call.path) };
}

const ENDINGS: Readonly<Record<string, string>> = {
  'audio/mpeg': 'mp3',
  'audio/ogg': 'ogg',
  'audio/wav': 'wav',
  'audio/pcm': 'pcm',
  'video/mp4': 'mp4',
};

/** The name that the gateway gives the file, or else that of the operation. */
function fileNameOf({ headers }: Response, path: string): string {
  const [, told] = /filename="([^"]+)"/.exec(headers.get('content-disposition') ?? '') ?? [];
  const [type = ''] = (headers.get('content-type') ?? '').split(';');
  return told ?? `${path.split('/').at(-1) ?? 'answer'}.${ENDINGS[type] ?? 'bin'}`;
}

/** Tells each piece of text as it comes; answers the events. Throws where one of them is an error. */
async function followed(
  response: Response,
  onText: (piece: string) => void,
): Promise<readonly unknown[]> {
  const events: unknown[] = [];
  for await (const { data } of eventsOf(response)) {
    if (data === '[DONE]') break;
    const event = JSON.parse(data) as StreamedEvent;
    const problem = problemIn(event);
    if (problem !== undefined) throw problemOf(response, { error: problem });
    onText(pieceOf(event));
    if (events.length < MOST_EVENTS) events.push(event);
  }
  return events;
}

/** The error that an event tells of, in each of the three dialects. */
function problemIn({ type, error, message, code, response }: StreamedEvent) {
  if (error !== undefined && error !== null) return error;
  if (type === 'error') return { message: message ?? 'The stream ended with an error.', code };
  return type === 'response.failed' ? (response?.error ?? undefined) : undefined;
}

function pieceOf({ choices, type, delta }: StreamedEvent): string {
  const [choice] = choices ?? [];
  if (choice !== undefined) return choice.delta?.content ?? '';
  if (type === 'response.output_text.delta') return typeof delta === 'string' ? delta : '';
  return typeof delta === 'object' ? (delta.text ?? '') : '';
}
