import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AdminHarness } from '../../support/admin-harness.js';
import { startTestGateway } from '../../support/gateway.js';

const COST = {
  unit: 'token',
  input_micro_usd_per_million: 1_000_000,
  output_micro_usd_per_million: 8_000_000,
};
const OVERLAY = {
  models: [
    {
      id: 'gen-5',
      routes: [{ provider: 'openai', upstream_model: 'gpt-5', cost: COST }],
    },
  ],
};

let harness: AdminHarness;

beforeAll(async () => {
  const file = join(mkdtempSync(join(tmpdir(), 'overlay-')), 'catalog.json');
  writeFileSync(file, JSON.stringify(OVERLAY));
  harness = await AdminHarness.start(await startTestGateway({ CATALOG_FILE: file }));
});
afterAll(() => harness.stop());

describe('/admin/catalog', () => {
  it('lists what is sold with its routes, costs and where its row comes from', async () => {
    const { data, has_more: hasMore } = await harness.list('/catalog');
    expect(hasMore).toBe(false);
    const byId = new Map(data.map((model) => [model.id, model]));
    expect(byId.get('gen-5')).toEqual({
      id: 'gen-5',
      object: 'catalog_model',
      operation: 'chat',
      source: 'changed',
      aliases: expect.any(Array),
      price: expect.objectContaining({ unit: 'token', output_per_million: '10000000' }),
      routes: [
        {
          provider: 'openai',
          upstream_model: 'gpt-5',
          can_run: true,
          cost: { unit: 'token', input_per_million: '1000000', output_per_million: '8000000' },
          reported_cost: null,
        },
      ],
    });
    expect(byId.get('aud-v4')).toMatchObject({
      source: 'built_in',
      routes: [{ provider: 'elevenlabs', can_run: true, cost: null }],
    });
  });

  it('checks an overlay and uses nothing of it', async () => {
    const good = await harness.post('/catalog/check', {
      models: [{ id: 'aud-v3', enabled: false }],
    });
    expect([good.status, good.json]).toMatchObject([
      200,
      { object: 'catalog_check', ok: true, changed: ['aud-v3'], disabled: ['aud-v3'], faults: [] },
    ]);
    const { data } = await harness.list('/catalog');
    expect(data.map(({ id }) => id)).toContain('aud-v3');
    const bad = await harness.post('/catalog/check', {
      models: [
        { id: 'gen-5', foo: 1 },
        { id: 'gen-5-mini', aliases: ['gen-5'] },
      ],
    });
    const faults = [expect.stringContaining('foo'), expect.stringContaining('names another model')];
    expect([bad.status, bad.json]).toEqual([
      200,
      { object: 'catalog_check', ok: false, faults: expect.arrayContaining(faults) },
    ]);
    const many = await harness.post('/catalog/check', {
      models: Array.from({ length: 130 }, (_, at) => ({ id: `${'x'.repeat(2_000)}${at}`, foo: 1 })),
    });
    const told = many.json as { faults: string[]; more_faults: number };
    expect(told.faults).toHaveLength(100);
    expect(told.more_faults).toBeGreaterThanOrEqual(30);
    expect(Math.max(...told.faults.map(({ length }) => length))).toBeLessThanOrEqual(1_000);
    const none = await harness.post('/catalog/check', []);
    expect(none.json).toMatchObject({ ok: false });
  });
});
