import createClient from 'openapi-fetch';
import type { components, paths } from '#api';
import { pollHeader } from './use.js';

/** A shape of the API by its name in openapi.json. */
export type Shape<Name extends keyof components['schemas']> = components['schemas'][Name];

/** What openapi-fetch resolves with. */
export interface Reply<T> {
  readonly data?: T;
  readonly error?: unknown;
  readonly response: Response;
}

const OWN_FILE = import.meta.url;
/** The path of the console, such as `/console`: its files are in the folder `assets` below it. */
export const CONSOLE_PATH = new URL('..', OWN_FILE).pathname.replace(/\/$/, '');
/** The path prefix of the gateway; usually empty. */
export const PATH_PREFIX = CONSOLE_PATH.replace(/\/console$/, '');

/** The calls of openapi.json. They go through the session of this page, never with a key or a token. */
export const api = createClient<paths>({ baseUrl: `${CONSOLE_PATH}/api` });
api.use({
  onRequest({ request }) {
    for (const [name, value] of Object.entries(pollHeader())) request.headers.set(name, value);
  },
});

/** A refusal, or an answer that did not come. */
export class ApiProblem extends Error {
  override readonly name = 'ApiProblem';

  constructor(
    message: string,
    /** 0: no answer came. */
    readonly status: number,
    readonly code?: string,
    readonly param?: string,
    readonly requestId?: string,
  ) {
    super(message);
  }
}

interface ErrorBody {
  readonly error?: {
    readonly message?: string;
    readonly code?: string | null;
    readonly param?: string | null;
  };
}

/** The problem that a response with its parsed body tells of. */
export function problemOf(response: Response, body: unknown): ApiProblem {
  const told = typeof body === 'object' && body !== null ? (body as ErrorBody).error : undefined;
  return new ApiProblem(
    told?.message ?? `The gateway answered ${response.status}.`,
    response.status,
    told?.code ?? undefined,
    told?.param ?? undefined,
    response.headers.get('x-gateway-execution-id') ?? undefined,
  );
}

/** The answer of a call. Throws an {@link ApiProblem} where it was refused or did not come. */
export async function answerOf<T>(call: Promise<Reply<T>>): Promise<T> {
  const { data, error, response } = await call.catch((cause: unknown) => {
    if (cause instanceof DOMException && cause.name === 'AbortError') throw cause;
    throw new ApiProblem('The gateway cannot be reached.', 0);
  });
  if (!response.ok) throw problemOf(response, error);
  return data as T;
}

/** The header that tells why an operator acts. */
export const reasonHeader = (reason: string): { 'x-console-reason': string } => ({
  'x-console-reason': encodeURIComponent(reason),
});

/** A part of an address as it was before it was written there; as it stands where it is no such part. */
export function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
