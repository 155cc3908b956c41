import assert from 'node:assert/strict';

/** One HTTP answer, read to its end. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly bytes: Buffer;
  /** The body as JSON; fails the test if it is not JSON. */
  readonly json: unknown;
}

/** The `error` object of an error answer. */
export interface ErrorBody {
  readonly message: string;
  readonly type: string;
  readonly param: string | null;
  readonly code: string;
  readonly needed_microusd?: string;
  readonly available_microusd?: string;
  readonly max_tokens?: number;
}

const MEMBERS = ['code', 'message', 'param', 'type'];
/** What a 402 also has (decision G-106). */
const AMOUNTS = ['available_microusd', 'max_tokens', 'needed_microusd', 'topup_url'];

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

/** The error of an error answer, after proving that the envelope is exactly the one that is promised (decisions G-05, G-47). */
export function errorOf(answer: Answer): ErrorBody {
  const { headers, json } = answer;
  assert.match(headers.get('content-type') ?? '', /^application\/json\b/);
  assert.match(headers.get('x-gateway-execution-id') ?? '', /^exec_[0-9a-f]{32}$/);
  assert.equal(headers.get('x-request-id'), headers.get('x-gateway-execution-id'));
  const { error, ...around } = json as { error: ErrorBody };
  // Messages have a form of their own, which their header shows.
  const id = headers.get('request-id');
  assert.deepEqual(around, id === null ? {} : { type: 'error', request_id: id });
  if (id !== null) assert.equal(id, headers.get('x-request-id'));
  const members = Object.keys(error).filter(
    (name) => answer.status !== 402 || !AMOUNTS.includes(name),
  );
  assert.deepEqual(members.sort(), MEMBERS);
  assert.match(error.message, /./);
  assert.match(error.type, /^[a-z_]+$/);
  assert.match(error.code, /^[a-z_]+$/);
  if (error.param !== null) assert.equal(typeof error.param, 'string');
  return error;
}
