import { jsonBody } from '../http/request-body.js';
import type { UpstreamRequest } from '../http/upstream-request.js';
import type { UpstreamTimeoutName } from '../http/upstream-timeouts.js';
import type { AttemptContext } from '../ports/attempt.js';

/** The body of a request; the fields that are undefined are not sent. */
export interface GenerateContent {
  readonly contents: readonly object[];
  readonly generationConfig: object;
  readonly systemInstruction?: object | undefined;
  readonly tools?: readonly object[] | undefined;
  readonly toolConfig?: object | undefined;
}

/** `generateContent` of the attempt's model: the whole answer in one JSON object. */
export function generateContent(
  body: GenerateContent,
  timeout: UpstreamTimeoutName,
  context: AttemptContext,
): UpstreamRequest {
  return requestOf('generateContent', body, timeout, context);
}

/** `streamGenerateContent` of the attempt's model: the answer as server-sent events. */
export function streamGenerateContent(
  body: GenerateContent,
  context: AttemptContext,
): UpstreamRequest {
  return requestOf('streamGenerateContent?alt=sse', body, 'chat', context);
}

/** The vendor's seeds have 31 bits. */
export function seedOf(seed: number | undefined): number | undefined {
  return seed === undefined ? undefined : Math.abs(seed) % 2 ** 31;
}

function requestOf(
  method: string,
  body: GenerateContent,
  timeout: UpstreamTimeoutName,
  context: AttemptContext,
): UpstreamRequest {
  const path = `/models/${encodeURIComponent(context.upstreamModel)}:${method}`;
  return { method: 'POST', path, body: jsonBody(body), timeout, context };
}
