import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { BackgroundHarness } from '../support/background-harness.js';
import { chunk, event } from '../support/chat-upstream-harness.js';
import { leaveAfter } from '../support/event-stream.js';
import { send } from '../support/http-answer.js';
import { until } from '../support/until.js';

/** The provider has a minute more than the deadline. */
const ENDED_AFTER_MS = 90_000;
const CAP = 500;

let desk: BackgroundHarness;
beforeAll(async () => {
  desk = await BackgroundHarness.start({ CALL_DEADLINE_MS: '1000' });
});
afterAll(() => desk.stop());

/** The provider thinks on, and says a word each second. */
function thinksOn(): void {
  desk.upstream.reply = (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(event(chunk('Well')));
    const words = setInterval(() => {
      response.write(event(chunk(' so')));
    }, 1_000);
    response.on('close', () => {
      clearInterval(words);
    });
  };
}

interface Told {
  readonly status: string;
  readonly charged_microusd: string;
  readonly held_microusd: string;
  readonly estimated: boolean;
  readonly capped: boolean;
  readonly output_cap: number | null;
  readonly quantity: { readonly completion_tokens: number };
  readonly lines: readonly { readonly amount_microusd: string }[];
}

async function leftStream(fields: object): Promise<Told> {
  const { headers } = await desk.gateway.account();
  const messages = [{ role: 'user', content: 'Think about it, please. '.repeat(20) }];
  const body = { model: 'gen-5-mini', stream: true, messages, ...fields };
  await leaveAfter(`${desk.gateway.url}/v1/chat/completions`, headers, body, 1);
  let call: Told | undefined;
  await until(async () => {
    const { json } = await send(`${desk.gateway.url}/v1/executions`, { headers });
    [call] = (json as { data: Told[] }).data;
    return call?.status !== 'running';
  }, ENDED_AFTER_MS);
  return call!;
}

describe('a left stream of a model that thinks unseen, without a report until its deadline', () => {
  it(
    'is charged its prompt and its whole output cap, which its lines add up to (G-24)',
    async () => {
      thinksOn();
      const [named, fitted] = await Promise.all([leftStream({ max_tokens: CAP }), leftStream({})]);
      expect(named.quantity.completion_tokens).toBe(CAP);
      expect(fitted.output_cap).toBeGreaterThan(CAP);
      expect(fitted.quantity.completion_tokens).toBe(fitted.output_cap);
      for (const call of [named, fitted]) {
        expect(call).toMatchObject({ status: 'succeeded', estimated: true, capped: false });
        const due = call.lines.reduce((sum, line) => sum + Number(line.amount_microusd), 0);
        expect(call.charged_microusd).toBe(String(Math.ceil(due)));
        // The prompt is counted, and held by its bytes.
        expect(Number(call.charged_microusd)).toBeLessThan(Number(call.held_microusd));
      }
    },
    ENDED_AFTER_MS + 30_000,
  );
});
