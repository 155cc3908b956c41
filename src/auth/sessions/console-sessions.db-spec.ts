import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { createTestDatabase, type TestDatabase } from '../../../test/support/test-database.js';
import { MINUTE_MS } from '../../common/time/spans.js';
import type { GatewayConfig } from '../../platform/config/gateway-config.js';
import type { Scheduler } from '../../platform/scheduler/scheduler.js';
import { IDLE_MS, SESSION_MS } from './console-session.js';
import { ConsoleSessions } from './console-sessions.js';
import { SessionSweeper } from './session-sweeper.js';

/** Uses are written to the minute, so nothing may depend on seconds. */
const MOST_MINUTES = 800;

let database: TestDatabase;
let nowMs = 1_800_000_000_000;
let sessions: ConsoleSessions;
let sweeper: SessionSweeper;

beforeAll(async () => {
  database = await createTestDatabase();
  const clock = { nowMs: () => nowMs, nowSeconds: () => nowMs / 1_000 };
  const config = { adminToken: 'an-admin-token-0123456789', oidcRoles: [] };
  const { dataSource } = database;
  sessions = new ConsoleSessions(dataSource, clock, config as unknown as GatewayConfig);
  sweeper = new SessionSweeper(dataSource, {} as Scheduler, clock);
});
afterAll(() => database.drop());

const open = (apiKeyId: string) =>
  sessions.open({ kind: 'customer', accountId: apiKeyId, apiKeyId }, '127.0.0.1', null);
const rows = async () =>
  (await database.dataSource.query<{ id: string }[]>('SELECT id FROM console_session'))
    .map(({ id }) => id)
    .sort();

type Step = readonly ['open' | 'use' | 'end' | 'sweep', which: number, minutes: number];
const steps = fc.array(
  fc.tuple(
    fc.constantFrom('open' as const, 'use' as const, 'end' as const, 'sweep' as const),
    fc.nat({ max: 3 }),
    fc.integer({ min: 1, max: MOST_MINUTES }),
  ),
  { minLength: 1, maxLength: 30 },
);

/** What a session is by the rules, in plain numbers. */
interface Modelled {
  readonly secret: string;
  readonly openedMs: number;
  usedMs: number;
  isEnded: boolean;
}

const isLive = ({ openedMs, usedMs, isEnded }: Modelled) =>
  !isEnded && nowMs < openedMs + SESSION_MS && nowMs < usedMs + IDLE_MS;

describe('ConsoleSessions', () => {
  it('knows the live sessions and no other, whatever is opened, used, ended and swept', async () => {
    await fc.assert(
      fc.asyncProperty(steps, async (history) => {
        await database.dataSource.query('DELETE FROM console_session');
        const model = new Map<string, Modelled>();
        for (const step of history) await take(step, model);
      }),
      { numRuns: 25 },
    );
  });

  it('keeps at most 50 of one holder, and leaves those of others', async () => {
    const [one, other] = [
      '0190a6a0-7c8b-7c6d-8f3b-2a1c0d9e8f01',
      '0190a6a0-7c8b-7c6d-8f3b-2a1c0d9e8f02',
    ];
    await database.dataSource.query('DELETE FROM console_session');
    const kept = await open(other);
    const opened = [];
    for (let count = 0; count < 53; count += 1) {
      nowMs += 1;
      opened.push(await open(one));
    }
    const live = await Promise.all(opened.map(({ secret }) => sessions.use(secret, '127.0.0.1')));
    expect(live.map((session) => session !== undefined)).toEqual(
      opened.map((_session, index) => index >= 3),
    );
    expect(await sessions.use(kept.secret, '127.0.0.1')).toBeDefined();
  });

  it('asks the database for 600 unknown secrets of an address a minute, and always for live ones', async () => {
    const { secret } = await open('0190a6a0-7c8b-7c6d-8f3b-2a1c0d9e8f04');
    const address = '203.0.113.9';
    expect(await sessions.use(secret, address)).toBeDefined();
    const guess = (which: number) => String(which).padStart(43, 'A');
    for (let which = 0; which < 600; which++) {
      if (which % 2 === 0) expect(await sessions.use(guess(which), address)).toBeUndefined();
      else await sessions.endBySecret(guess(which), address);
    }
    const refusal = { code: 'rate_limit_exceeded' };
    await expect(sessions.use(guess(600), address)).rejects.toMatchObject(refusal);
    await expect(sessions.endBySecret(guess(601), address)).rejects.toMatchObject(refusal);
    expect(await sessions.use(secret, address)).toBeDefined();
    expect(await sessions.use(guess(602), '198.51.100.7')).toBeUndefined();
    nowMs += 60_000;
    expect(await sessions.use(guess(603), address)).toBeUndefined();
  });

  it('keeps no secret', async () => {
    const { secret } = await open('0190a6a0-7c8b-7c6d-8f3b-2a1c0d9e8f03');
    const kept = await database.dataSource.query<object[]>('SELECT * FROM console_session');
    expect(JSON.stringify(kept)).not.toContain(secret);
    expect(
      await sessions.use(`${secret.slice(0, -1)}${secret.endsWith('A') ? 'B' : 'A'}`, '127.0.0.1'),
    ).toBe(undefined);
  });
});

async function take([kind, which, minutes]: Step, model: Map<string, Modelled>): Promise<void> {
  nowMs += minutes * MINUTE_MS;
  const [id, modelled] = [...model][which] ?? [];
  if (kind === 'open') {
    const { secret, session } = await open('0190a6a0-7c8b-7c6d-8f3b-2a1c0d9e8f7a');
    model.set(session.id, { secret, openedMs: nowMs, usedMs: nowMs, isEnded: false });
  } else if (kind === 'sweep') {
    await sweeper.sweep();
    const live = [...model].filter(([, session]) => isLive(session)).map(([one]) => one);
    expect(await rows()).toEqual(live.sort());
  } else if (id !== undefined && modelled !== undefined) {
    const wasLive = isLive(modelled);
    if (kind === 'end') {
      await sessions.end(id);
      modelled.isEnded = true;
    } else if (wasLive) modelled.usedMs = nowMs;
    const session = await sessions.use(modelled.secret, '127.0.0.1');
    expect(session?.id).toBe(kind === 'use' && wasLive ? id : undefined);
  }
}
