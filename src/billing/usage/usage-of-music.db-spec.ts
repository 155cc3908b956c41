import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { fundedAccount, startOf, successOf } from '../../../test/support/test-ledger.js';
import { overlay } from '../../../test/support/overlay-file.js';
import { UsageDesk } from '../../../test/support/usage-desk.js';
import { Catalog } from '../../catalog/catalog.js';
import { loadCatalog } from '../../catalog/catalog-file.js';
import { monthOf } from '../statements/dto/statement.query.js';
import { Statements } from '../statements/statements.js';
import type { UsageDimension } from './usage-request.js';
import { UsageReports } from './usage-reports.js';

const bySong = {
  id: 'aud-song',
  operation: 'composition',
  routes: [],
  price: { unit: 'request', micro_usd: 5 },
};
/** The models of music: one built in, sold by the second, and one of an overlay that is disabled, sold by the song. */
const { rows } = loadCatalog(overlay({ models: [{ ...bySong, enabled: false }] }));
const catalog = new Catalog(rows, () => false);

let desk: UsageDesk;
let accountId: string;
beforeAll(async () => {
  desk = await UsageDesk.open();
  accountId = await fundedAccount(desk.dataSource, 1_000n);
  await sell('aud-music-v2.5', 'second', 30);
  await sell('aud-song', 'request', 1);
  await sell('aud-song', 'request', 1);
  await sell('aud-gone', 'request', 1);
});
afterAll(() => desk.close());

async function sell(model: string, unit: 'second' | 'request', quantity: number): Promise<void> {
  const start = { ...startOf(accountId, 10n), model, endpoint: '/v1/audio/music' };
  await desk.calls.executions.begin(start);
  const basis = { unit, quantity, unitPrice: '1', isEstimated: false };
  await desk.calls.executions.succeed(start, { ...successOf(10n), basis });
}

function usageBy(...groupBy: UsageDimension[]) {
  const reports = new UsageReports(desk.dataSource, catalog);
  const span = { from: '2020-01-01', to: '2100-01-01', limit: 100, offset: 0 };
  return reports.rows({ ...span, groupBy, accountId, apiKeyId: undefined, model: undefined });
}

const COUNTED = [
  { model: 'aud-gone', unit: null, quantity: null },
  { model: 'aud-music-v2.5', unit: 'second', quantity: '30' },
  { model: 'aud-song', unit: 'task', quantity: '2' },
];

describe('usage of music', () => {
  it('counts seconds or songs by the price of the model, and nothing of an unknown one (G-115)', async () => {
    for (const isFolded of [false, true]) {
      if (isFolded) await desk.foldAll();
      const byModel = await usageBy('model');
      expect(byModel.toSorted((a, b) => (a.model! < b.model! ? -1 : 1))).toMatchObject(COUNTED);
      expect(await usageBy('endpoint')).toMatchObject([{ unit: null, quantity: null, calls: '4' }]);
      expect(await usageBy('account')).toMatchObject([{ unit: null, calls: '4' }]);
      expect(await usageBy('run')).toMatchObject([{ unit: null, calls: '4' }]);
    }
  });

  it('has the same units in a statement (G-115)', async () => {
    const month = monthOf(new Date().toISOString().slice(0, 7));
    const { charges } = await new Statements(desk.dataSource, catalog).read(accountId, month);
    const counted = COUNTED.map(({ quantity, ...row }) => ({
      ...row,
      quantity: quantity === null ? null : Number(quantity),
    }));
    expect(charges.toSorted((a, b) => (a.model! < b.model! ? -1 : 1))).toMatchObject(counted);
  });
});
