import { expect } from '@jest/globals';

/** One HTTP answer, read to its end. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly bytes: Buffer;
  /** The body as JSON; fails the test where it is none. */
  readonly json: unknown;
}

/** What stands in `error` of an error answer. */
export interface ErrorBody {
  readonly message: string;
  readonly type: string;
  readonly param: string | null;
  readonly code: string;
}

/** Sends a request and reads the whole answer. */
export async function send(url: string, init: RequestInit = {}): Promise<Answer> {
  const answer = await fetch(url, init);
  const bytes = Buffer.from(await answer.arrayBuffer());
  return {
    status: answer.status,
    headers: answer.headers,
    bytes,
    get json(): unknown {
      return JSON.parse(bytes.toString()) as unknown;
    },
  };
}

/** Posts JSON; fields that are undefined are left out. */
export function postJson(
  url: string,
  headers: Readonly<Record<string, string>>,
  body: unknown,
): Promise<Answer> {
  return send(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
}

/** The error of an error answer, after proving that the envelope is exactly the spec's (decisions G-05, G-47). */
export function errorOf(answer: Answer): ErrorBody {
  expect(answer.headers.get('content-type')).toMatch(/^application\/json\b/);
  expect(answer.headers.get('x-gateway-execution-id')).toMatch(/^exec_[0-9a-f]{32}$/);
  expect(answer.headers.get('x-request-id')).toBe(answer.headers.get('x-gateway-execution-id'));
  const { error } = answer.json as { error: ErrorBody };
  expect(answer.json).toEqual({
    error: {
      message: expect.stringMatching(/./),
      type: expect.stringMatching(/^[a-z_]+$/),
      param: error.param === null ? null : expect.any(String),
      code: expect.stringMatching(/^[a-z_]+$/),
    },
  });
  return error;
}
