import { WireFault, type WireError } from '../http/protocol.js';

/** Refuses a request as the vendor does: 400 with a message and the name of the parameter. */
export function refuse(message: string, param?: string): never {
  throw new WireFault({ status: 400, message, ...(param !== undefined && { param }) });
}

/** Type and code for an error status, where the fault names none. */
const WORDS: Readonly<Record<number, readonly [type: string, code: string | null]>> = {
  401: ['invalid_request_error', 'invalid_api_key'],
  403: ['invalid_request_error', 'unsupported_country_region_territory'],
  404: ['invalid_request_error', 'not_found'],
  429: ['rate_limit_error', 'rate_limit_exceeded'],
};

/** An error in OpenAI's format. */
export function openAiErrorBody({ status, code, message, param }: WireError): unknown {
  const usual = status >= 500 ? (['server_error', null] as const) : undefined;
  const [type, usualCode] = WORDS[status] ?? usual ?? ['invalid_request_error', null];
  return { error: { message, type, param: param ?? null, code: code ?? usualCode } };
}
