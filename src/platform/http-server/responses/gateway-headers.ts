import type { ServerResponse } from 'node:http';
import type { Response } from 'express';
import { copyOf, SANDBOX_HEADER } from './answer-copy.js';
import { formatMicroUsd, type MicroUsd } from '../../../common/money/micro-usd.js';

/** Header that carries the charge of a synchronous call (API: Transcription response; decision G-28). */
export const CHARGE_HEADER = 'x-gateway-charge-microusd';

/** OpenAPI: the charge header. */
export const CHARGE_HEADERS = {
  [CHARGE_HEADER]: {
    description: 'The charge in micro-USD',
    required: true,
    schema: { type: 'string' },
  },
} as const;

/** The value of a paid call, and its charge. */
export interface Charged<T> {
  readonly value: T;
  readonly chargedMicroUsd: MicroUsd;
}

/** Content type of a JSON answer. */
export const JSON_ANSWER_TYPE = 'application/json; charset=utf-8';

/** Sets the charge header. */
export function setChargeHeader(response: Response, chargedMicroUsd: MicroUsd): void {
  response.setHeader(CHARGE_HEADER, formatMicroUsd(chargedMicroUsd));
}

/**
 * Sends the value of a call as JSON, with the charge header, once it is kept where it is to be. If the call rejects, nothing is sent and its error is
 * thrown.
 */
export async function sendCharged(
  response: Response,
  call: Promise<Charged<object>>,
): Promise<void> {
  const { value, chargedMicroUsd } = await call;
  setChargeHeader(response, chargedMicroUsd);
  const copy = copyOf(response);
  if (!copy) {
    response.json(value);
    return;
  }
  const text = JSON.stringify(value);
  await copy.addWhole(text);
  await copy.keep(response, JSON_ANSWER_TYPE);
  response.setHeader('Content-Type', JSON_ANSWER_TYPE);
  response.send(text);
}

/** Sets or removes the header, unless the head has been sent. */
export function setSandboxHeader(
  response: Pick<ServerResponse, 'headersSent' | 'setHeader' | 'removeHeader'>,
  isSandbox: boolean,
): void {
  if (response.headersSent) return;
  if (isSandbox) response.setHeader(SANDBOX_HEADER, 'true');
  else response.removeHeader(SANDBOX_HEADER);
}

/** Headers that tell the output cap that the gateway chose, in tokens, and what bound it (decision G-106). */
export const OUTPUT_CAP_HEADER = 'x-gateway-output-cap';
export const OUTPUT_CAP_REASON_HEADER = 'x-gateway-output-cap-reason';

/** OpenAPI: the headers of an output cap that the gateway chose. */
export const OUTPUT_CAP_HEADERS = {
  [OUTPUT_CAP_HEADER]: {
    description: 'Without a cap in the request: the most output tokens that the call may have',
    schema: { type: 'integer' },
  },
  [OUTPUT_CAP_REASON_HEADER]: {
    description: 'What bound that: the balance, the limit of the key or of the run, or the model',
    schema: { type: 'string', enum: ['balance', 'key', 'run', 'model'] },
  },
};

/** Tells the output cap that the gateway chose, in tokens, and what bound it (decision G-106). */
export function setOutputCapHeaders(
  response: Pick<ServerResponse, 'setHeader'>,
  tokens: number,
  reason: string,
): void {
  response.setHeader(OUTPUT_CAP_HEADER, tokens);
  response.setHeader(OUTPUT_CAP_REASON_HEADER, reason);
}

/** Header that names the fields of a request that were left out (decision G-92). */
export const IGNORED_FIELDS_HEADER = 'x-gateway-ignored-fields';

/** OpenAPI: the header of ignored fields. */
export const IGNORED_FIELDS_HEADERS = {
  [IGNORED_FIELDS_HEADER]: {
    description: 'Fields of the request that were left out, with commas between them',
    schema: { type: 'string' },
  },
} as const;

/** Sets the header, unless no field was ignored. */
export function setIgnoredFieldsHeader(response: Response, ignored: readonly string[]): void {
  if (ignored.length > 0) response.setHeader(IGNORED_FIELDS_HEADER, ignored.join(', '));
}

/** Header that says that a response was not stored although its caller wanted that (decision G-108). */
const STORED_HEADER = 'x-gateway-stored';

/** OpenAPI: the header. */
export const STORED_HEADERS = {
  [STORED_HEADER]: {
    description:
      '`false`: the response was not stored, because it is too large or nothing is stored here',
    schema: { type: 'string', enum: ['false'] },
  },
};

/** Says that the response is not stored. */
export function setNotStoredHeader(response: Response): void {
  response.setHeader(STORED_HEADER, 'false');
}

/** Header that says how a number of tokens was found. */
const TOKEN_COUNT_HEADER = 'x-gateway-token-count';

/** OpenAPI: the header. */
export const TOKEN_COUNT_HEADERS = {
  [TOKEN_COUNT_HEADER]: {
    description: '`estimate`: the tokens were counted here, and the provider may count otherwise',
    schema: { type: 'string', enum: ['estimate'] },
  },
};

/** Says that a number of tokens was counted here. */
export function setEstimateHeader(response: Response): void {
  response.setHeader(TOKEN_COUNT_HEADER, 'estimate');
}

/** Removes the headers that were set before the provider was called and describe an answer; an error is none. */
export function removeAnswerHeaders(response: Pick<ServerResponse, 'removeHeader'>): void {
  for (const name of Object.keys({
    ...IGNORED_FIELDS_HEADERS,
    ...OUTPUT_CAP_HEADERS,
    ...STORED_HEADERS,
    ...TOKEN_COUNT_HEADERS,
    'Preference-Applied': undefined,
  })) {
    response.removeHeader(name);
  }
}
