import { afterAll, beforeAll, describe, it } from '@jest/globals';
import { postJson, send } from '../../support/http-answer.js';
import { HELLO } from '../../support/paid-endpoints.js';
import { expectRefused, type Refusal } from '../../support/refusal.js';
import { type GatewayFromOutside, sharedGateway } from '../../support/shared-gateway.js';

/** A request to which faults are added before it is sent. */
interface Draft {
  readonly headers: Record<string, string>;
  body: Record<string, unknown> | string;
  allowedModels: string[] | null;
  requestsPerMinute: number | null;
  credit: bigint;
}

interface Fault {
  readonly name: string;
  readonly add: (draft: Draft) => void;
  readonly refusal: Refusal;
  /** Two faults of the same part of a request exclude each other. */
  readonly subject?: string;
}

const field = (draft: Draft, name: string, value: unknown) => {
  if (typeof draft.body === 'object') draft.body[name] = value;
};
const withField =
  (name: string, value: unknown) =>
  (draft: Draft): void => {
    field(draft, name, value);
  };

const BROKEN: Fault = {
  name: 'broken JSON',
  add: (draft) => (draft.body = JSON.stringify(draft.body).slice(0, -1)),
  refusal: { status: 400, code: 'invalid_request', param: null },
};

/** One fault of each check, in the order of the checks (decision G-01). */
const FAULTS: readonly Fault[] = [
  {
    name: 'an unknown key',
    add: (draft) => (draft.headers.authorization = `Bearer sk-${'0'.repeat(43)}`),
    refusal: { status: 401, code: 'invalid_token' },
  },
  {
    name: 'a used-up rate limit',
    add: (draft) => (draft.requestsPerMinute = 1),
    refusal: { status: 429, code: 'rate_limit_exceeded' },
  },
  {
    name: 'an Idempotency-Key',
    add: (draft) => (draft.headers['idempotency-key'] = 'abc'),
    refusal: { status: 400, code: 'idempotency_not_supported' },
  },
  {
    name: 'a wrong content type',
    add: (draft) => (draft.headers['content-type'] = 'text/plain'),
    refusal: { status: 400, code: 'invalid_content_type' },
  },
  {
    name: 'a body over a megabyte',
    add: withField('next_text', 'x'.repeat(1_100_000)),
    refusal: { status: 413, code: 'request_too_large' },
  },
  BROKEN,
  {
    name: 'no model',
    add: withField('model', undefined),
    refusal: { status: 400, code: 'invalid_request', param: 'model' },
    subject: 'model',
  },
  {
    name: 'an unknown model',
    add: withField('model', 'aud-v9'),
    refusal: { status: 404, code: 'model_not_available' },
    subject: 'model',
  },
  {
    name: 'a model outside the allowlist',
    add: (draft) => (draft.allowedModels = ['aud-v3']),
    refusal: { status: 403, code: 'api_key_model_not_allowed' },
  },
  {
    name: 'a model of another endpoint',
    add: withField('model', 'aud-music-v2.5'),
    refusal: { status: 503, code: 'no_eligible_route' },
    subject: 'model',
  },
  {
    name: 'a bad field',
    add: withField('voice', 'nobody'),
    refusal: { status: 400, code: 'invalid_request', param: 'voice' },
  },
  {
    name: 'a text over the limit of the model',
    add: withField('input', 'x'.repeat(10_001)),
    refusal: { status: 400, code: 'input_too_long' },
  },
  {
    name: 'an empty balance',
    add: (draft) => (draft.credit = 1n),
    refusal: { status: 402, code: 'insufficient_funds' },
  },
];

const PAIRS = FAULTS.flatMap((first, at) =>
  FAULTS.slice(at + 1)
    .filter(({ subject }) => subject === undefined || subject !== first.subject)
    .map((second) => ({ first, second })),
);

let gateway: GatewayFromOutside;

beforeAll(async () => {
  gateway = await sharedGateway();
});
afterAll(async () => {
  await gateway.expectCleanBooks();
  await gateway.stop();
});

/** Sends one request with all the faults and proves which of them is answered. */
async function expectTold(faults: readonly Fault[], refusal: Refusal): Promise<void> {
  const draft: Draft = {
    headers: { 'content-type': 'application/json' },
    body: { ...HELLO },
    allowedModels: null,
    requestsPerMinute: null,
    credit: 10_000_000n,
  };
  // Broken JSON is added last, because it breaks what the others made.
  const ordered = [...faults].sort(
    (one, other) => Number(one === BROKEN) - Number(other === BROKEN),
  );
  for (const fault of ordered) fault.add(draft);
  const { allowedModels, requestsPerMinute, credit, body } = draft;
  const { accountId, headers } = await gateway.account(credit, {
    allowedModels,
    requestsPerMinute,
  });
  const url = `${gateway.url}/v1/audio/speech`;
  if (requestsPerMinute !== null) await postJson(url, headers, {});
  const call = () =>
    send(url, {
      method: 'POST',
      headers: { ...headers, ...draft.headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
  await expectRefused(gateway, accountId, call, refusal);
}

describe('of several faults in one request', () => {
  it.each(PAIRS)(
    '$first.name is told before $second.name (AUD-54, G-01)',
    async ({ first, second }) => {
      await expectTold([first, second], first.refusal);
    },
  );

  it('reports each alone', async () => {
    for (const fault of FAULTS) await expectTold([fault], fault.refusal);
  });
});
