import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { chunk, event } from '../support/chat-upstream-harness.js';
import { startTestGateway, type TestAccount, type TestGateway } from '../support/gateway.js';
import { postJson, send } from '../support/http-answer.js';
import { StubUpstream } from '../support/stub-upstream.js';
import { until } from '../support/until.js';

interface Ended {
  readonly id: string;
  readonly status: string;
  readonly billing?: { readonly charged_microusd: string };
}

const RUNS = 3;
const RESPONSES = 12;
const LONGEST_MS = 400;
const CREDIT = 100_000_000n;
const DONE = chunk('', { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] });
const USAGE = chunk('', {
  choices: [],
  usage: { prompt_tokens: 12, completion_tokens: 5, total_tokens: 17 },
});

let upstream: StubUpstream;
let gateway: TestGateway;
let account: TestAccount;

beforeAll(async () => {
  upstream = await StubUpstream.start();
  gateway = await startTestGateway({
    OPENAI_API_KEY: 'upstream-key',
    OPENAI_BASE_URL: `${upstream.url}/v1`,
    TASK_TICK_MS: '20',
  });
  account = await gateway.account(CREDIT);
  // The provider takes as long as the words of the request say.
  upstream.reply = async (response, { body }) => {
    const [, ms = '0'] = /take (\d+)/.exec(body.toString()) ?? [];
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(event(chunk('Hello ')));
    await sleep(Number(ms));
    for (const last of [chunk('there'), DONE, USAGE]) response.write(event(last));
    response.end('data: [DONE]\n\n');
  };
});
afterAll(async () => {
  await gateway.expectCleanBooks();
  await gateway.stop();
  await upstream.stop();
});

const url = (path: string) => `${gateway.url}/v1/responses${path}`;

/** One response that takes so long and is cancelled so often, so long after its submission; at its end. */
async function cancelled(takesMs: number, cancelsMs: readonly number[]): Promise<Ended> {
  const body = { model: 'gen-4-mini', input: `take ${takesMs}`, background: true };
  const { json } = await postJson(url(''), account.headers, body);
  const { id } = json as Ended;
  await Promise.all(
    cancelsMs.map(async (ms) => {
      await sleep(ms);
      const answer = await postJson(url(`/${id}/cancel`), account.headers, {});
      expect(answer.status).toBe(200);
    }),
  );
  let response = json as Ended;
  await until(async () => {
    response = (await send(url(`/${id}`), { headers: account.headers })).json as Ended;
    return !['queued', 'in_progress'].includes(response.status);
  });
  return response;
}

it('a response that is cancelled at any moment ends once, and is charged once what it says', async () => {
  const moment = fc.nat({ max: LONGEST_MS });
  const history = fc.array(fc.tuple(moment, fc.array(moment, { maxLength: 3 })), {
    minLength: RESPONSES,
    maxLength: RESPONSES,
  });
  await fc.assert(
    fc.asyncProperty(history, async (responses) => {
      const ended = await Promise.all(responses.map((terms) => cancelled(...terms)));
      const rows = await gateway.dataSource.query<{ id: string; entries: string; sum: string }[]>(
        `SELECT t.id, count(l.*) AS entries, coalesce(-sum(l.amount), 0) AS sum
           FROM task t LEFT JOIN ledger_entry l ON l.account_id = t.account_id AND l.hold_id = t.id
          WHERE t.id = ANY ($1) GROUP BY t.id`,
        [ended.map(({ id }) => id.replace('resp_', ''))],
      );
      expect(rows).toHaveLength(RESPONSES);
      for (const { id, billing, status } of ended) {
        const charged = billing?.charged_microusd;
        const row = rows.find((own) => own.id.replaceAll('-', '') === id.replace('resp_', ''));
        expect(['completed', 'cancelled']).toContain(status);
        expect({ status, ...row }).toMatchObject(
          charged === undefined
            ? { status: 'cancelled', entries: '0' }
            : { entries: '1', sum: charged },
        );
      }
      expect(await gateway.balance(account.accountId)).toMatchObject({ held: 0n });
    }),
    { numRuns: RUNS, endOnFailure: true },
  );
});
