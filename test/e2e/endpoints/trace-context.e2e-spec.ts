import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { GATEWAY_VERSION } from '../../../src/common/version.js';
import { ASK } from '../../support/chat-upstream-harness.js';
import { startTestGateway, type TestAccount, type TestGateway } from '../../support/gateway.js';
import { postJson } from '../../support/http-answer.js';
import { overlay } from '../../support/overlay-file.js';
import { StubUpstream } from '../../support/stub-upstream.js';

const TRACE_PARENT = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
const MODELS = [{ id: 'gen-5', send_traceparent: true }];

let upstream: StubUpstream;
let gateway: TestGateway;
let account: TestAccount;
beforeAll(async () => {
  upstream = await StubUpstream.start();
  gateway = await startTestGateway({
    OPENAI_API_KEY: 'upstream-key',
    OPENAI_BASE_URL: `${upstream.url}/v1`,
    CATALOG_FILE: overlay({ models: MODELS }),
  });
  account = await gateway.account();
});
beforeEach(() => {
  upstream.seen.length = 0;
  const choices = [
    { index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' },
  ];
  upstream.reply = (response) => response.end(JSON.stringify({ choices }));
});
afterAll(async () => {
  await gateway.expectCleanBooks();
  await gateway.stop();
  await upstream.stop();
});

const ask = async (model: string, traceparent: string) => {
  const url = `${gateway.url}/v1/chat/completions`;
  const answer = await postJson(url, { ...account.headers, traceparent }, { ...ASK, model });
  expect(answer.status).toBe(200);
  return upstream.only.headers;
};

describe('the trace of a call', () => {
  it('goes on at the provider where the row of the model asks for it', async () => {
    expect((await ask('gen-5', TRACE_PARENT)).traceparent).toBe(TRACE_PARENT);
  });

  it('stays here for every other model', async () => {
    expect(await ask('gen-5-mini', TRACE_PARENT)).not.toHaveProperty('traceparent');
  });

  it('is not sent where it is not valid', async () => {
    expect(await ask('gen-5', `${TRACE_PARENT}-x`)).not.toHaveProperty('traceparent');
  });

  it('is sent by a gateway that names itself and its version', async () => {
    expect((await ask('gen-5', TRACE_PARENT))['user-agent']).toBe(`shim/${GATEWAY_VERSION}`);
  });
});
