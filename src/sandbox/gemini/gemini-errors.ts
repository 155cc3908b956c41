import { type WireError, WireFault } from '../http/protocol.js';

/** The status word of an HTTP status, where the fault names none. */
const WORDS: Readonly<Record<number, string>> = {
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  429: 'RESOURCE_EXHAUSTED',
  503: 'UNAVAILABLE',
  504: 'DEADLINE_EXCEEDED',
};

/** Refuses a request as the vendor does: 400 with the path of the field among the details. */
export function refuseContent(message: string, path?: string): never {
  throw new WireFault({ status: 400, message, ...(path !== undefined && { param: path }) });
}

/** An error in Gemini's format. */
export function geminiErrorBody({ status, code, message, param }: WireError): unknown {
  const usual = status >= 500 ? 'INTERNAL' : 'INVALID_ARGUMENT';
  const details = param !== undefined && {
    details: [
      {
        '@type': 'type.googleapis.com/google.rpc.BadRequest',
        fieldViolations: [{ field: param, description: message }],
      },
    ],
  };
  return { error: { code: status, message, status: code ?? WORDS[status] ?? usual, ...details } };
}
