import type { ServerResponse } from 'node:http';
import type { SeenRequest } from '../../support/stub-upstream.js';

/** What a caller puts together from an answer, streamed or whole; absent: not looked at. */
export interface Wanted {
  readonly text?: string;
  /** What it finds under `reasoning_content` or `reasoning`. */
  readonly reasoning?: string;
  /** Id, name and arguments of each call of a tool. */
  readonly calls?: readonly (readonly [string, string, string])[];
  readonly reason?: string;
  /** Prompt, completion and cached tokens of the usage. */
  readonly usage?: readonly [number, number, number?];
  /** Of a call that fails. */
  readonly status?: number;
  readonly code?: string;
  /** `Retry-After` in seconds. */
  readonly retryAfter?: string;
}

/**
 * One habit of a vendor and what becomes of it. `events` are those of a stream (a text is sent as it is), `answer` is a
 * whole answer, `reply` writes anything else; each that is given is tried.
 */
export interface Dialect {
  readonly kind: 'roles' | 'indices' | 'reasoning' | 'usage' | 'ends' | 'errors' | 'encodings';
  readonly what: string;
  readonly events?: readonly unknown[];
  readonly answer?: object;
  readonly reply?: (response: ServerResponse, request: SeenRequest) => unknown;
  readonly wanted: Wanted;
}

export const DONE = 'data: [DONE]\n\n';
/** A chunk with one delta, and whatever else a vendor writes beside it. */
export const delta = (fields: object, more: object = {}, beside: object = {}) => ({
  id: 'chatcmpl-vendor',
  object: 'chat.completion.chunk',
  created: 1_700_000_000,
  model: 'vendor/model',
  system_fingerprint: 'fp_vendor',
  choices: [{ index: 0, delta: fields, finish_reason: null, ...more }],
  ...beside,
});
/** The chunk that ends an answer. */
export const STOP = delta({}, { finish_reason: 'stop' });
/** A chunk with text. */
export const says = (content: string, beside: object = {}) =>
  delta({ role: 'assistant', content }, {}, beside);
/** A whole answer. */
export const wholeAnswer = (message: object, more: object = {}, beside: object = {}) => ({
  id: 'vendor',
  object: 'chat.completion',
  created: 1_700_000_000,
  model: 'vendor/model',
  choices: [{ index: 0, message, finish_reason: 'stop', ...more }],
  ...beside,
});
