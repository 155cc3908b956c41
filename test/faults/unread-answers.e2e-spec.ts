import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from '@jest/globals';
import { startTestGateway } from '../support/gateway.js';
import { postJson } from '../support/http-answer.js';
import { HELLO } from '../support/paid-endpoints.js';
import { SlowSockets, startLongProvider } from './slow-sockets.js';

const READERS = 25;
const PATIENCE_MS = 60_000;
const TIMEOUT_MS = 240_000;
/** Room for some eight readers. */
const MAX_BYTES = 1_048_576;

it(
  'readers of one account that take nothing are cut beyond UNREAD_ANSWERS_MAX_BYTES, and others are served',
  async () => {
    const provider = await startLongProvider();
    const gateway = await startTestGateway({
      ELEVENLABS_API_KEY: 'stub-provider-key',
      ELEVENLABS_BASE_URL: provider.url,
      UNREAD_ANSWERS_MAX_BYTES: String(MAX_BYTES),
    });
    try {
      const [slow, other] = [await gateway.account(), await gateway.account()];
      const port = Number(new URL(gateway.url).port);
      const figure = async (name: string): Promise<number> => {
        const text = await (await fetch(`${gateway.url}/metrics`)).text();
        return Number(new RegExp(`^${name} (\\d+)`, 'm').exec(text)?.[1]);
      };
      const sockets = await SlowSockets.open('audio', READERS, { port, keys: [slow.key] });
      for (let waitedMs = 0; waitedMs < PATIENCE_MS; waitedMs += 200) {
        expect(
          (await postJson(`${gateway.url}/v1/audio/speech`, other.headers, HELLO)).status,
        ).toBe(200);
        if ((await figure('gateway_slow_clients_disconnected_total')) > 0) break;
        await sleep(200);
      }
      expect(await figure('gateway_slow_clients_disconnected_total')).toBeGreaterThan(0);
      expect(await figure('gateway_response_buffer_bytes')).toBeGreaterThan(0);
      await sockets.ended(TIMEOUT_MS);
    } finally {
      await gateway.stop();
      provider.stop();
    }
  },
  TIMEOUT_MS,
);
