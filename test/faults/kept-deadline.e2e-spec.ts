import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startTestGateway, type TestGateway } from '../support/gateway.js';
import { send } from '../support/http-answer.js';
import { until } from '../support/until.js';

const DEADLINE_MS = 2_000;

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway({ CALL_DEADLINE_MS: String(DEADLINE_MS) });
});
afterAll(async () => {
  await gateway.expectCleanBooks();
  await gateway.stop();
});

/** The charge of a stream that the deadline cuts, which the client reads as far as it comes. */
async function chargeOf(model: string, more: Record<string, string>): Promise<number> {
  const { headers } = await gateway.account();
  const content = 'Go [[sandbox:tokens=40]] [[sandbox:pace=200]]';
  const body = { model, stream: true, messages: [{ role: 'user', content }] };
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { ...headers, ...more, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  await expect(response.text()).rejects.toThrow();
  const id = response.headers.get('x-gateway-execution-id');
  let charged: string | null = null;
  await until(async () => {
    const { json } = await send(`${gateway.url}/v1/executions/${id}`, { headers });
    const execution = json as { status: string; charged_microusd: string | null };
    charged = execution.charged_microusd;
    return execution.status !== 'running';
  });
  return Number(charged);
}

describe('a stream at the deadline of its call', () => {
  it.each(['gen-4-mini'])(
    'is charged what was made, whether its answer was to be kept or not: %s (G-24)',
    async (model) => {
      const [plain, kept, keyed] = await Promise.all([
        chargeOf(model, {}),
        chargeOf(model, { prefer: 'keep' }),
        chargeOf(model, { 'idempotency-key': 'late' }),
      ]);
      expect(plain).toBeGreaterThan(0);
      for (const charge of [kept, keyed]) {
        expect(charge).toBeGreaterThan(plain / 2);
        expect(charge).toBeLessThan(plain * 2);
      }
    },
  );
});
