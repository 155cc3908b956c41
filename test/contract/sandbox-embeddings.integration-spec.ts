import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { SystemClock } from '../../src/common/time/clock.js';
import { MAX_DIMENSIONS } from '../../src/providers/ports/embedding.port.js';
import { ProviderRegistry } from '../../src/providers/routing/provider-registry.js';
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.js';

const TEXTS = ['A lighthouse at night', 'A lighthouse by day', 'Invoices are due'];

let sandbox: Sandbox;
let registry: ProviderRegistry;
beforeAll(async () => {
  sandbox = await startSandbox({ ownThread: false });
  const { apiKey, url } = sandbox;
  const providers = [
    { id: 'openai', protocol: 'openai', baseUrl: `${url}/openai/v1`, apiKey },
    { id: 'gemini', protocol: 'gemini', baseUrl: `${url}/gemini/v1beta`, apiKey },
  ] as const;
  registry = new ProviderRegistry({ providers, upstreamTimeoutMs: 10_000 }, new SystemClock());
});
afterAll(async () => {
  await registry.onModuleDestroy();
  await sandbox.close();
});

function embed(provider: string, inputs: readonly string[], dimensions?: number) {
  const [min, max] = dimensions === undefined ? [1, MAX_DIMENSIONS] : [dimensions, dimensions];
  const upstreamModel = 'embed-demo';
  const port = registry.portOf({ provider, upstreamModel }, 'embeddings')!;
  const { signal } = new AbortController();
  return port.embed({ inputs, dimensions, length: { min, max } }, { upstreamModel, signal });
}

const nearness = (a: ArrayLike<number> = [], b: ArrayLike<number> = []): number =>
  Array.from(a).reduce((sum, value, index) => sum + value * (b[index] ?? 0), 0);

describe.each(['openai', 'gemini'])('embeddings of the sandbox over %s', (provider) => {
  it('are near where texts share words, and of length 1', async () => {
    const { vectors, promptTokens } = await embed(provider, TEXTS);
    const [night, day, invoices] = vectors;
    expect(night).toHaveLength(1_536);
    expect(nearness(night, day)).toBeGreaterThan(nearness(night, invoices) + 0.1);
    expect(nearness(night, night)).toBeCloseTo(1);
    expect(promptTokens).toBeGreaterThan(3);
  });

  it('have the wanted length', async () => {
    const { vectors } = await embed(provider, TEXTS, 5);
    expect(vectors.map(({ length }) => length)).toEqual([5, 5, 5]);
  });

  it.each(['no-usage', 'zero-usage'])('tell no tokens with %s', async (word) => {
    const { promptTokens } = await embed(provider, [`[[sandbox:${word}]] Hello`]);
    expect(promptTokens).toBeNull();
  });

  it('are refused beyond the bounds of the vendor', async () => {
    const many = Array.from({ length: provider === 'gemini' ? 101 : 2_049 }, () => 'a');
    await expect(embed(provider, many)).rejects.toMatchObject({ kind: 'rejected' });
    await expect(embed(provider, ['a'], 1_537)).rejects.toMatchObject({ kind: 'rejected' });
  });

  it('fail as the other calls of the vendor do', async () => {
    const limited = embed(provider, ['[[sandbox:status=429]]']);
    await expect(limited).rejects.toMatchObject({ kind: 'rate_limited' });
    await expect(embed(provider, ['[[sandbox:break-body]] Hello'])).rejects.toThrow();
  });
});
