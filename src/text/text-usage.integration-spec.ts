import { afterAll, describe, expect, it } from '@jest/globals';
import { SystemClock } from '../common/time/clock.js';
import { Metrics } from '../platform/observability/metrics.js';
import type { TokenUsage } from '../providers/ports/chat.port.js';
import { TextUsage } from './text-usage.js';
import type { GeneratedText } from './generated-text.js';
import { TokenCounter } from './tokens/token-counter.js';

describe('usage', () => {
  const counter = new TokenCounter();
  afterAll(() => counter.beforeApplicationShutdown());
  const metrics = new Metrics();
  const usageWith = (
    texts: readonly string[],
    reported: TokenUsage | null,
    generated: () => GeneratedText,
    hasHiddenReasoning = false,
  ) => {
    const route = { provider: 'p', upstreamModel: 'm' };
    const call = {
      accountId: 'account',
      route,
      prompt: () => ({ texts, messages: texts.length, images: 0 }),
      maxTokens: 100,
      hasHiddenReasoning,
    };
    return new TextUsage(counter, new SystemClock(), metrics).of(call, reported, generated);
  };
  const reported = {
    promptTokens: 20,
    completionTokens: 30,
    cachedTokens: null,
    reasoningTokens: null,
  };

  it('counts each text of the prompt once', async () => {
    const texts = ['a', 'f', 'b'];
    const generated = () => ({ text: 'generated', uncountedTokens: 0 });
    const usage = await usageWith(texts, null, generated);
    // Three texts of one token each; a message and a reply cost three each.
    expect(usage).toMatchObject({ promptTokens: 3 + 3 * 3 + 3, completionTokens: 1 });
  });

  it('has the prompt that the provider told before the answer, by its lines', async () => {
    const told = { ...reported, cachedTokens: 9, cacheWriteTokens: 2, completionTokens: 0 };
    const call = {
      accountId: 'account',
      route: { provider: 'p', upstreamModel: 'm' },
      prompt: () => ({ texts: ['a'], messages: 1, images: 1 }),
      toldPrompt: told,
      maxTokens: 100,
      hasHiddenReasoning: false,
    };
    const generated = () => ({ text: 'generated', uncountedTokens: 0 });
    const usage = await new TextUsage(counter, new SystemClock(), metrics).of(
      call,
      null,
      generated,
    );
    expect(usage).toEqual({ ...told, completionTokens: 1, isEstimated: false });
  });

  it('is estimated if text was not kept', async () => {
    const generated = () => ({ text: 'generated', uncountedTokens: 70 });
    const usage = await usageWith([], null, generated);
    expect(usage).toMatchObject({ completionTokens: 71, isEstimated: true });
  });

  it.each([0, 900])(
    'ignores a report of %i prompt and zero completion tokens beside text',
    async (promptTokens) => {
      const zero = { ...reported, promptTokens, completionTokens: 0 };
      const generated = () => ({ text: 'generated', uncountedTokens: 0 });
      const usage = await usageWith(['a'], zero, generated);
      expect(usage).toMatchObject({ promptTokens: 7, completionTokens: 1 });
    },
  );

  it('accepts a report of zero completion tokens if no text was generated', async () => {
    const zero = { ...reported, completionTokens: 0 };
    const usage = await usageWith([], zero, () => ({ text: '', uncountedTokens: 0 }));
    expect(usage).toMatchObject({ promptTokens: 20, completionTokens: 0 });
  });

  it.each([
    [50, 80],
    [5_000, 100],
  ])(
    'counts a surplus of %i tokens as output up to the cap: %i',
    async (surplusTokens, completionTokens) => {
      const generated = () => ({ text: 'generated', uncountedTokens: 0 });
      const usage = await usageWith([], { ...reported, surplusTokens }, generated);
      expect(usage).toEqual({ ...reported, completionTokens, isEstimated: false });
    },
  );

  it.each([
    [undefined, 30],
    [20, 43],
  ])(
    'counts the prompt itself if zero prompt tokens are reported, with a surplus of %j',
    async (surplus, wanted) => {
      const zero = { ...reported, promptTokens: 0, ...(surplus && { surplusTokens: surplus }) };
      const usage = await usageWith(['a'], zero, () => {
        throw new Error('the completion is not counted');
      });
      expect(usage).toMatchObject({
        promptTokens: 7,
        completionTokens: wanted,
        isEstimated: false,
      });
    },
  );

  it.each([
    [true, 1],
    [false, 0],
  ])(
    'without a report is marked as estimated if reasoning is hidden: %j',
    async (isHidden, times) => {
      metrics.uncountedReasoning.reset();
      const generated = () => ({ text: 'generated', uncountedTokens: 0 });
      const usage = await usageWith([], null, generated, isHidden);
      expect(usage).toMatchObject({ completionTokens: 1, isEstimated: isHidden });
      const { values } = await metrics.uncountedReasoning.get();
      expect(values.map(({ value }) => value)).toEqual(times === 0 ? [] : [times]);
    },
  );
});
