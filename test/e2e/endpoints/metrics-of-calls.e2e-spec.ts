import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { GATEWAY_VERSION } from '../../../src/common/version.js';
import { ASK, chunk, event, streams } from '../../support/chat-upstream-harness.js';
import { startTestGateway, type TestGateway } from '../../support/gateway.js';
import { postJson, send } from '../../support/http-answer.js';
import { StubUpstream } from '../../support/stub-upstream.js';
import { until } from '../../support/until.js';

const USAGE = { prompt_tokens: 30, completion_tokens: 20, total_tokens: 50 };

let upstream: StubUpstream;
let gateway: TestGateway;
beforeAll(async () => {
  upstream = await StubUpstream.start();
  gateway = await startTestGateway({
    OPENAI_API_KEY: 'upstream-key',
    OPENAI_BASE_URL: `${upstream.url}/v1`,
  });
});
afterAll(async () => {
  await gateway.expectCleanBooks();
  await gateway.stop();
  await upstream.stop();
});

const END = { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], usage: USAGE };
const LAST = `${event(chunk('', END))}data: [DONE]\n\n`;
const COMPLETION = JSON.stringify({
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
  usage: USAGE,
});

const scrape = async (): Promise<string> => (await send(`${gateway.url}/metrics`)).bytes.toString();
/** The value of a sample, by its whole name with labels. */
async function valueOf(sample: string): Promise<number> {
  const line = (await scrape()).split('\n').find((each) => each.startsWith(`${sample} `));
  return line === undefined ? 0 : Number(line.split(' ').at(-1));
}

describe('the metrics of calls', () => {
  it('count tokens, upstream time and time to the first token by model', async () => {
    const { headers } = await gateway.account();
    const url = `${gateway.url}/v1/chat/completions`;
    upstream.reply = (response) => response.end(COMPLETION);
    expect((await postJson(url, headers, ASK)).status).toBe(200);
    expect(await valueOf('gateway_tokens_total{model="gen-5",type="input"}')).toBe(30);
    expect(await valueOf('gateway_tokens_total{model="gen-5",type="output"}')).toBe(20);
    expect(await valueOf('gateway_model_upstream_duration_seconds_count{model="gen-5"}')).toBe(1);
    // An answer that is sent as a whole has no first token of its own.
    expect(await valueOf('gateway_time_to_first_token_seconds_count{model="gen-5"}')).toBe(0);
    upstream.reply = streams(...['Hi', ' ', 'you'].map((text) => event(chunk(text))), LAST);
    const streamed = await postJson(url, headers, { ...ASK, stream: true });
    expect(streamed.status).toBe(200);
    await until(
      async () =>
        (await valueOf('gateway_model_upstream_duration_seconds_count{model="gen-5"}')) === 2,
    );
    expect(await valueOf('gateway_time_to_first_token_seconds_count{model="gen-5"}')).toBe(1);
    expect(await valueOf('gateway_tokens_total{model="gen-5",type="input"}')).toBe(60);
  });

  it('count refusals by their code', async () => {
    const { headers } = await gateway.account(0n);
    const refused = await postJson(`${gateway.url}/v1/chat/completions`, headers, ASK);
    expect(refused.status).toBe(402);
    const { code } = (refused.json as { error: { code: string } }).error;
    expect(await valueOf(`gateway_refusals_total{code="${code}"}`)).toBe(1);
    await send(`${gateway.url}/v1/account`, { headers: { authorization: 'Bearer sk-none' } });
    expect(await valueOf('gateway_refusals_total{code="invalid_token"}')).toBe(1);
  });

  it('show a call in flight, and none after its end', async () => {
    const { headers } = await gateway.account();
    let finish = (): void => undefined;
    upstream.reply = (response) => {
      finish = () => response.end(COMPLETION);
    };
    const call = postJson(`${gateway.url}/v1/chat/completions`, headers, ASK);
    await until(async () => (await valueOf('gateway_calls_in_flight')) === 1);
    expect(await valueOf('gateway_calls_waiting')).toBe(0);
    await until(() => upstream.seen.length === 3);
    finish();
    expect((await call).status).toBe(200);
    expect(await valueOf('gateway_calls_in_flight')).toBe(0);
  });

  it('tell version, pool, heartbeat, statements and what waits for an operator', async () => {
    const text = await scrape();
    expect(text).toContain(
      `gateway_build_info{version="${GATEWAY_VERSION}",node_version="${process.version}"} 1\n`,
    );
    expect(text).toMatch(/^gateway_database_connections_in_use \d+$/m);
    expect(text).toMatch(/^gateway_database_connections_waiting 0$/m);
    expect(text).toMatch(/^gateway_heartbeat_age_seconds \d/m);
    expect(text).toMatch(/^gateway_owed_releases 0$/m);
    expect(text).toMatch(/^gateway_storage_errors_total\{operation="write"\} 0$/m);
    expect(text).toMatch(/duration_seconds_count\{statement="execution_step_v3"\} [1-9]/);
    expect(text).not.toMatch(/gateway_redis_up/);
    await until(async () => /^gateway_tasks_undecided 0$/m.test(await scrape()));
    expect(await scrape()).toMatch(/^gateway_tasks_undecided_oldest_age_seconds 0$/m);
  });
});
