import { afterAll, afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { SystemClock } from '../../src/common/time/clock.js';
import { anthropicPorts } from '../../src/providers/anthropic/anthropic-ports.js';
import { HttpTransport } from '../../src/providers/http/http-transport.js';
import { ProviderError } from '../../src/providers/http/provider-error.js';
import type { ChatPort } from '../../src/providers/ports/chat.port.js';
import { StubUpstream } from '../support/stub-upstream.js';
import { MESSAGE, native, neutral } from './anthropic-wires.js';

const TIMEOUT_MS = 2_000;
const transport = new HttpTransport(TIMEOUT_MS);
let stub: StubUpstream;
let chat: ChatPort;
beforeEach(async () => {
  stub = await StubUpstream.start();
  const access = { id: 'acme', baseUrl: stub.url, apiKey: 'key', clock: new SystemClock() };
  chat = anthropicPorts({ ...access, transport }).chat!;
});
afterEach(() => stub.stop());
afterAll(() => transport.close());

const context = (upstreamModel = 'some-model') => ({
  upstreamModel,
  signal: new AbortController().signal,
});

describe('a model that does not take a setting', () => {
  const bodies = () => stub.seen.map(({ body }) => JSON.parse(body.toString()) as object);
  const refuse = (...refusals: (readonly [field: string, message: string])[]): void => {
    stub.reply = (response, { body }) => {
      const sent = JSON.stringify(JSON.parse(body.toString()));
      const refusal = refusals.find(([field]) => sent.includes(field));
      const answer = refusal
        ? { type: 'error', error: { type: 'invalid_request_error', message: refusal[1] } }
        : MESSAGE;
      response.writeHead(refusal ? 400 : 200).end(JSON.stringify(answer));
    };
  };
  const ADAPTIVE = ['"adaptive"', 'adaptive thinking is not supported on this model'] as const;
  const EFFORT = ['"effort"', 'This model does not support the effort parameter.'] as const;
  const ENABLED = [
    '"enabled"',
    '"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive" and "output_config.effort"',
  ] as const;
  const HEAT = ['"temperature"', '`temperature` is deprecated for this model.'] as const;
  const thinks = neutral({ settings: { reasoningEffort: 'low' } }, 9_000);

  it.each([ADAPTIVE, EFFORT])(
    'is asked again with a budget, and at once the next time: %s',
    async (...refusal) => {
      refuse(refusal);
      await chat.complete(thinks, context());
      await chat.complete(thinks, context());
      expect(bodies()).toMatchObject([
        { thinking: { type: 'adaptive' }, output_config: { effort: 'low' } },
        { thinking: { type: 'enabled', budget_tokens: 2_048 } },
        { thinking: { type: 'enabled', budget_tokens: 2_048 } },
      ]);
      await chat.complete(thinks, context('another-model'));
      expect(bodies().at(-2)).toMatchObject({ thinking: { type: 'adaptive' } });
    },
  );

  it('that takes neither thinks as it likes', async () => {
    refuse(ADAPTIVE, ENABLED);
    await chat.complete(thinks, context());
    expect(bodies()).toHaveLength(3);
    expect(bodies().at(-1)).not.toHaveProperty('thinking');
  });

  it('is asked for an effort in place of a budget, and without a temperature', async () => {
    refuse(ENABLED, HEAT);
    await chat.complete(neutral({ settings: { thinkingBudgetTokens: 2_000 } }, 9_000), context());
    await chat.complete(neutral({ settings: { temperature: 0 } }), context());
    expect(bodies().at(1)).toMatchObject({ thinking: { type: 'adaptive' } });
    expect(bodies().at(-1)).not.toHaveProperty('temperature');
    expect(bodies()).toHaveLength(4);
  });

  it('is asked once where it refuses something else, or a caller of Messages asked', async () => {
    refuse(['messages', 'messages.0: temperature is a word that is not in the text']);
    await expect(chat.complete(neutral(), context())).rejects.toThrow(ProviderError);
    refuse(HEAT);
    const asked = native({ temperature: 0 });
    await expect(chat.complete(asked, context())).rejects.toThrow(ProviderError);
    expect(stub.seen).toHaveLength(2);
  });
});
