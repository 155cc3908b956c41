import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import {
  ADMIN_TOKEN,
  startTestGateway,
  type TestAccount,
  type TestGateway,
} from '../../support/gateway.js';
import { type Answer, errorOf, postJson, send } from '../../support/http-answer.js';
import { StubUpstream } from '../../support/stub-upstream.js';

const ASK = { model: 'gen-5', messages: [{ role: 'user', content: 'Hello' }], temperature: 0.3 };
const SPEAK = { model: 'aud-v4', input: 'Hello', voice: 'Adam' };

let upstream: StubUpstream;
let gateway: TestGateway;
let account: TestAccount;

beforeAll(async () => {
  upstream = await StubUpstream.start();
  gateway = await startTestGateway({
    OPENAI_API_KEY: 'upstream-key',
    OPENAI_BASE_URL: `${upstream.url}/v1`,
    ELEVENLABS_API_KEY: 'upstream-key',
    ELEVENLABS_BASE_URL: upstream.url,
  });
});
beforeEach(async () => {
  account = await gateway.account();
});
afterAll(async () => {
  await gateway.expectCleanBooks();
  await gateway.stop();
  await upstream.stop();
});

function refuse(status: number, body: object): void {
  upstream.reply = (response) => {
    response.writeHead(status, { 'content-type': 'application/json', 'x-request-id': 'req_1' });
    response.end(JSON.stringify(body));
  };
}
const chat = (body: object = ASK): Promise<Answer> =>
  postJson(`${gateway.url}/v1/chat/completions`, account.headers, body);

interface OperatorRecord {
  readonly provider: string;
  readonly provider_request_id: string;
  readonly provider_error: {
    readonly status: number;
    readonly code: string;
    readonly message: string;
  };
}

async function record(answer: Answer): Promise<OperatorRecord> {
  const id = answer.headers.get('x-gateway-execution-id') ?? '';
  const headers = { authorization: `Bearer ${ADMIN_TOKEN}` };
  const { bytes } = await send(`${gateway.url}/admin/executions/${id}`, { headers });
  return JSON.parse(bytes.toString()) as OperatorRecord;
}

describe('a refusal of the provider', () => {
  it('shows its code word and the field that the caller sent, and no more (G-96)', async () => {
    const message = 'Unsupported value: temperature does not support 0.3 with gpt-5-2026.';
    const error = {
      message,
      type: 'invalid_request_error',
      param: 'temperature',
      code: 'unsupported_value',
    };
    refuse(400, { error });
    const answer = await chat();
    expect(answer.status).toBe(400);
    expect(errorOf(answer)).toEqual({
      message: 'The provider refused the request: unsupported_value.',
      type: 'invalid_request_error',
      param: 'temperature',
      code: 'provider_rejected_request',
    });
  });

  it.each([
    ['messages[0].content', 'messages.0.content'],
    ['max_completion_tokens', null],
    ['<b>', null],
    [null, null],
  ])('names %s as %s', async (param, named) => {
    refuse(400, { error: { message: 'no', type: 'invalid_request_error', param, code: null } });
    expect(errorOf(await chat()).param).toBe(named);
  });

  it.each(['Org acme is out of credit', 'x'.repeat(65), 'Über'])(
    'keeps a code that is no code word to itself: %s (G-96)',
    async (code) => {
      refuse(400, { error: { message: 'no', code } });
      expect(errorOf(await chat()).message).toBe('The provider refused the request.');
    },
  );

  it('of audio names a field only where it is the caller’s own', async () => {
    refuse(422, { detail: [{ loc: ['body', 'voice_settings'], msg: 'bad', type: 'value_error' }] });
    const answer = await postJson(`${gateway.url}/v1/audio/speech`, account.headers, SPEAK);
    expect(errorOf(answer)).toMatchObject({
      code: 'provider_rejected_request',
      message: 'The provider refused the request: value_error.',
      param: null,
    });
  });

  it('stands in the operator’s record with status, code and the redacted sentence (G-96)', async () => {
    const secret = 'sk-0123456789abcdef0123';
    const message = `Bad value for ${secret} of org-a1b2c3d4e5 (me@vendor.example). ${'x'.repeat(600)}`;
    refuse(400, { error: { message, code: 'unsupported_value', param: 'temperature' } });
    const answer = await chat();
    expect(answer.bytes.toString()).not.toMatch(/vendor|Bad value|req_1/);
    const { provider_error: fault, provider_request_id, provider } = await record(answer);
    expect(fault).toMatchObject({ status: 400, code: 'unsupported_value' });
    expect(fault.message).toMatch(
      /^Bad value for sk-\[redacted\] of \[redacted\] \(\[redacted\]\)\./,
    );
    expect(fault.message).toHaveLength(500);
    expect([provider, provider_request_id]).toEqual(['openai', 'req_1']);
  });

  it('shows no sign of a provider in the caller’s own record', async () => {
    refuse(400, { error: { message: 'secret words', code: 'unsupported_value' } });
    const id = (await chat()).headers.get('x-gateway-execution-id') ?? '';
    const own = await send(`${gateway.url}/v1/executions/${id}`, { headers: account.headers });
    expect(own.bytes.toString()).not.toMatch(/secret words|openai/);
  });
});
