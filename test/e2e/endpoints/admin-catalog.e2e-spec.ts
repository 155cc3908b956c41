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
      limits: { max_output_tokens: 64_000 },
      headers: { 'x-team': 'secret of a team' },
      constants: { access: { token: 'secret of a body' } },
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
      differences: [
        { field: 'limits.max_output_tokens', before: '128000', after: '64000' },
        { field: 'headers.x-team', before: null, after: '(not shown)' },
        { field: 'constants.access.token', before: null, after: '(not shown)' },
      ],
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
    // The sandbox brings it along; no file does.
    expect(byId.get('gen-think')).toMatchObject({ source: 'built_in', differences: [] });
    expect(byId.get('aud-v4')).toMatchObject({
      source: 'built_in',
      differences: [],
      routes: [{ provider: 'elevenlabs', can_run: true, cost: null }],
    });
  });

  it('tells what a checked overlay would change against what is sold now, and what it would add', async () => {
    const added = { id: 'gen-own', operation: 'chat', limits: { max_output_tokens: 8_000 } };
    const routes = [{ provider: 'openai', upstream_model: 'own', cost: COST }];
    const { json } = await harness.post('/catalog/check', {
      models: [
        { id: 'aud-v4', price: { unit: 'code_point', micro_usd: 150 } },
        { id: 'aud-v3', enabled: false },
        { ...added, price: COST, routes },
      ],
    });
    const { differences } = json as { differences: object[] };
    expect(differences).toEqual(
      expect.arrayContaining([
        // The file of now no longer holds.
        { model: 'gen-5', field: 'limits.max_output_tokens', before: '64000', after: '128000' },
        { model: 'gen-5', field: 'headers.x-team', before: '(not shown)', after: null },
        { model: 'gen-5', field: 'routes.0.cost.unit', before: 'token', after: null },
        { model: 'aud-v4', field: 'price.micro_usd', before: '120', after: '150' },
        { model: 'aud-v3', field: 'enabled', before: 'true', after: 'false' },
        { model: 'gen-own', field: 'enabled', before: 'false', after: 'true' },
        {
          model: 'gen-own',
          field: 'price.input_micro_usd_per_million',
          before: null,
          after: '1000000',
        },
      ]),
    );
    const models = new Set(differences.map((one) => (one as { model: string }).model));
    expect([...models].sort()).toEqual(['aud-v3', 'aud-v4', 'gen-5', 'gen-own']);
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
    const unfit = await harness.post('/catalog/check', {
      models: [{ id: 'gen-5', routes: [{ provider: 'ttapi', upstream_model: 'm' }] }],
    });
    expect(unfit.json).toMatchObject({
      ok: false,
      faults: [expect.stringContaining('model gen-5: routes.0.provider speaks ttapi')],
    });
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
