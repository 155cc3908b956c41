import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { toPublicId } from '../../src/common/ids/public-id.js';
import { send } from '../support/http-answer.js';
import {
  cleanUp,
  type GatewayProgram,
  PROCESS_TEST_TIMEOUT_MS,
  startGatewayProgram,
} from '../support/process.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { accountsOf } from '../support/test-ledger.js';

const ENTRIES = 80_000;
/** Entries that one statement writes. */
const BATCH = 10_000;
/** The entries as objects, or the rows of one statement, would take several times as much. */
const HEAP_MB = 128;
const TEST_TIMEOUT_MS = PROCESS_TEST_TIMEOUT_MS * 4;
const MONTH = '2026-01';

let database: TestDatabase;
let gateway: GatewayProgram;
let headers: Record<string, string>;

beforeAll(async () => {
  database = await createTestDatabase();
  const settings = { NODE_OPTIONS: `--max-old-space-size=${HEAP_MB}` };
  gateway = await startGatewayProgram({ DATABASE_URL: database.url, ...settings });
  const { id } = await accountsOf(database.dataSource).create('busy');
  for (let from = 1; from <= ENTRIES; from += BATCH) {
    await database.dataSource.query(
      `INSERT INTO ledger_entry (account_id, kind, amount, balance_after, reference, reason, created_at)
         SELECT $1, 'correction', 2, 2 * n, 'a note of an operator', 'goodwill', timestamptz '${MONTH}-02Z' + n * interval '1 second'
           FROM generate_series($2::int, $3::int) n`,
      [id, from, from + BATCH - 1],
    );
  }
  const key = await gateway.admin('POST', `/accounts/${toPublicId('acct', id)}/keys`, {});
  headers = { authorization: `Bearer ${(key.json as { key: string }).key}` };
}, TEST_TIMEOUT_MS);
afterAll(async () => {
  await cleanUp();
  await database.drop();
}, PROCESS_TEST_TIMEOUT_MS);

/** Reads CSV as it comes, and hands over each line. */
async function linesOf(path: string, take: (cells: string[]) => void): Promise<string[]> {
  const answer = await fetch(`${gateway.url}${path}`, { headers });
  expect([answer.status, answer.headers.get('content-length')]).toEqual([200, null]);
  let names: string[] | undefined;
  let rest = '';
  const decoder = new TextDecoder();
  const read = (line: string) => {
    if (names === undefined) names = line.split(',');
    else take(line.split(','));
  };
  for await (const bytes of answer.body ?? []) {
    const lines = (rest + decoder.decode(bytes as Uint8Array, { stream: true })).split('\r\n');
    rest = lines.pop() ?? '';
    lines.forEach(read);
  }
  read(rest);
  return names ?? [];
}

describe(`a gateway with ${HEAP_MB} MB for its objects`, () => {
  it(
    `sends ${ENTRIES} entries of a ledger as CSV, newest first, each once`,
    async () => {
      const rows: string[][] = [];
      const names = await linesOf('/v1/ledger?format=csv', (cells) => rows.push(cells));
      const column = (name: string) => rows.map((cells) => cells[names.indexOf(name)] ?? '');
      expect(rows).toHaveLength(ENTRIES);
      expect(new Set(column('id')).size).toBe(ENTRIES);
      const balances = column('balance_after_microusd').map(Number);
      expect(balances.every((balance, index) => balance === 2 * (ENTRIES - index))).toBe(true);
    },
    TEST_TIMEOUT_MS,
  );

  it(
    `sends a statement with ${ENTRIES} entries as CSV, whose amounts add up`,
    async () => {
      const sums = new Map<string, { count: number; total: number }>();
      const ids = new Set<string>();
      const rows: string[][] = [];
      const names = await linesOf(`/v1/statements/${MONTH}?format=csv`, (cells) =>
        rows.push(cells),
      );
      for (const cells of rows) {
        const line = cells[names.indexOf('line')] ?? '';
        const { count, total } = sums.get(line) ?? { count: 0, total: 0 };
        const amount = Number(cells[names.indexOf('amount_microusd')]);
        sums.set(line, { count: count + 1, total: total + amount });
        if (line === 'correction') ids.add(cells[names.indexOf('id')] ?? '');
      }
      expect(ids.size).toBe(ENTRIES);
      expect(Object.fromEntries(sums)).toEqual({
        opening: { count: 1, total: 0 },
        correction: { count: ENTRIES, total: 2 * ENTRIES },
        closing: { count: 1, total: 2 * ENTRIES },
        held: { count: 1, total: 0 },
      });
    },
    TEST_TIMEOUT_MS,
  );

  it(
    'sends one account at most 4 of them at once, ends with clients that leave, and goes on',
    async () => {
      const leaving = new AbortController();
      const open = async () => {
        const { signal } = leaving;
        return (await fetch(`${gateway.url}/v1/ledger?format=csv`, { headers, signal })).status;
      };
      expect(await Promise.all([open(), open(), open(), open()])).toEqual([200, 200, 200, 200]);
      const fifth = await send(`${gateway.url}/v1/ledger?format=csv`, { headers });
      expect([fifth.status, fifth.headers.get('retry-after')]).toEqual([429, '1']);
      const page = await send(`${gateway.url}/v1/ledger?format=csv&limit=2`, { headers });
      expect([page.status, page.bytes.toString().split('\r\n').length]).toEqual([200, 3]);
      leaving.abort();
      for (let status = 429; status !== 200;) {
        const head = { method: 'HEAD', headers };
        ({ status } = await send(`${gateway.url}/v1/ledger?format=csv`, head));
        expect([200, 429]).toContain(status);
      }
      expect(gateway.child.exitCode).toBeNull();
    },
    TEST_TIMEOUT_MS,
  );
});
