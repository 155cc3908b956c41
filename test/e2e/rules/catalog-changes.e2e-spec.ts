import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ADMIN_TOKEN, startTestGateway, type TestGateway } from '../../support/gateway.js';
import { errorOf, send } from '../../support/http-answer.js';
import { until } from '../../support/until.js';

const file = join(mkdtempSync(join(tmpdir(), 'changes-')), 'catalog.json');
const headers = { authorization: `Bearer ${ADMIN_TOKEN}` };

interface Change {
  readonly id: string;
  readonly model: string;
  readonly price: Record<string, string> | null;
  readonly former_price: Record<string, string> | null;
  readonly file: string | null;
  readonly created_at: number;
}

let gateway: TestGateway;

const write = (models: readonly object[]) => {
  writeFileSync(file, JSON.stringify({ models }));
};
const speech = (microUsd: number) => ({
  id: 'aud-v4',
  price: { unit: 'code_point', micro_usd: microUsd },
});

beforeAll(async () => {
  write([speech(150)]);
  gateway = await startTestGateway({ CATALOG_FILE: file });
});
afterAll(() => gateway.stop());

const ask = (query: string) => send(`${gateway.url}/admin/catalog/changes?${query}`, { headers });
const changesOf = async (query: string) =>
  ((await ask(query)).json as { data: readonly Change[] }).data;

describe('GET /admin/catalog/changes', () => {
  it('tells which price was what, from when, by which file, after the start and each reload', async () => {
    await until(async () => (await changesOf('model=aud-v4')).length === 1);
    write([speech(90)]);
    await gateway.reload();
    await until(async () => (await changesOf('model=aud-v4')).length === 2);
    write([{ id: 'aud-v4', enabled: false }]);
    await gateway.reload();
    await until(async () => (await changesOf('model=aud-v4')).length === 3);
    const changes = await changesOf('model=aud-v4');
    const price = (amount: string) => ({ unit: 'code_point', amount_microusd: amount });
    expect(changes).toEqual([
      expect.objectContaining({ model: 'aud-v4', price: null, former_price: price('90'), file }),
      expect.objectContaining({ price: price('90'), former_price: price('150'), file }),
      {
        id: expect.stringMatching(/^\d+$/),
        object: 'catalog_change',
        model: 'aud-v4',
        price: price('150'),
        former_price: null,
        file,
        created_at: expect.any(Number),
      },
    ]);
    expect(await changesOf('model=gen-5')).toMatchObject([
      { price: { cached_input_per_million: '125000' }, file: null },
    ]);
  });

  it('is a list like the others, for operators only', async () => {
    const first = await ask('limit=2');
    expect(first.json).toMatchObject({ object: 'list', has_more: true });
    const { next_cursor: cursor, data } = first.json as { next_cursor: string; data: Change[] };
    const [next] = await changesOf(`limit=2&cursor=${cursor}`);
    expect(Number(next?.id)).toBeLessThan(Number(data[1]?.id));
    expect(errorOf(await ask('cursor=x'))).toMatchObject({ param: 'cursor' });
    expect(errorOf(await ask('day=1'))).toMatchObject({ param: 'day' });
    const { headers: holder } = await gateway.account();
    const url = `${gateway.url}/admin/catalog/changes`;
    expect((await send(url, { headers: holder })).status).toBe(401);
  });
});
