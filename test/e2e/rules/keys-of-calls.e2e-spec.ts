import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startTestGateway, type TestGateway } from '../../support/gateway.js';
import { postJson } from '../../support/http-answer.js';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(async () => {
  await gateway.stop();
});

describe('the idempotency key of a call', () => {
  it('belongs to one response, in the background or not', async () => {
    const who = await gateway.account();
    const body = { model: 'gen-5-mini', input: 'Hi' };
    for (const [index, background] of [true, false].entries()) {
      const headers = { ...who.headers, 'idempotency-key': `both-${index}` };
      const send = (isBackground: boolean) =>
        postJson(`${gateway.url}/v1/responses`, headers, { ...body, background: isBackground });
      expect((await send(background)).status).toBe(200);
      expect(await send(!background)).toMatchObject({
        status: 409,
        json: { error: { code: 'idempotency_conflict' } },
      });
    }
  });

  it('belongs to one of two responses that are sent at once, in the background and not', async () => {
    const who = await gateway.account();
    const body = { model: 'gen-5-mini', input: 'Hi' };
    const pairs = Array.from({ length: 12 }, async (_, index) => {
      const headers = { ...who.headers, 'idempotency-key': `at-once-${index}` };
      const send = (background: boolean) =>
        postJson(`${gateway.url}/v1/responses`, headers, { ...body, background });
      const answers = await Promise.all(
        index % 2 ? [send(true), send(false)] : [send(false), send(true)],
      );
      return answers.map(({ status }) => status).sort();
    });
    for (const pair of await Promise.all(pairs)) expect(pair).toEqual([200, 409]);
  });

  it('is free at once after a refusal of its body', async () => {
    const { headers: own } = await gateway.account();
    for (let count = 0; count < 30; count += 1) {
      const headers = { ...own, 'idempotency-key': `mended-${count}` };
      const wrong = { model: 'gen-5-mini', messages: [], n: 7 };
      expect((await postJson(`${gateway.url}/v1/chat/completions`, headers, wrong)).status).toBe(
        400,
      );
      const right = { model: 'gen-5-mini', messages: [{ role: 'user', content: 'Hi' }] };
      expect((await postJson(`${gateway.url}/v1/chat/completions`, headers, right)).status).toBe(
        200,
      );
    }
  });
});
