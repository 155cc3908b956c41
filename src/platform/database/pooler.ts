import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { SESSION_SETTINGS } from './session-settings.js';
import { ChosenClient, ServerChoice, trying } from './server-choice.js';
import { sqlStateOf } from './database-errors.js';

/**
 * `DATABASE_POOLER`: whether there is a pooler in transaction mode between the gateway and its database; `auto` detects
 * it.
 */
export type PoolerSetting = 'auto' | 'transaction' | 'none';

/**
 * What is between the gateway and its database: nothing (`none`), or a pooler that gives each transaction another session,
 * which keeps the names of statements (`named`) or does not (`unnamed`).
 */
export type Pooler = 'none' | 'named' | 'unnamed';

const CONNECT_TIMEOUT_MS = 5_000;
/** With a pooler that has only one session, the probe would wait for ever. */
const PROBE_PATIENCE_MS = 2_000;
const PROBES = 3;
/** The errors of poolers for a start-up parameter that they do not pass on. */
const PROTOCOL_VIOLATION = '08P01';

/** Detects once what is at the URL. Throws the driver's errors while the database cannot be reached. */
export async function findPooler(url: string, setting: PoolerSetting): Promise<Pooler> {
  if (setting === 'none') return 'none';
  const choice = new ServerChoice(url);
  return trying(url, () => detect(choice, setting));
}

async function detect(choice: ServerChoice, setting: PoolerSetting): Promise<Pooler> {
  if (setting === 'auto' && (await keepsSettings(choice))) return 'none';
  return (await keepsNames(choice)) ? 'named' : 'unnamed';
}

/** Whether a session has the settings of its start-up: a pooler rejects or drops them. */
async function keepsSettings(choice: ServerChoice): Promise<boolean> {
  try {
    return await withClients(choice, 1, SESSION_SETTINGS.startUp, async ([client]) => {
      const { rows = [] } = (await client?.query<{ kept: boolean }>(SESSION_SETTINGS.check)) ?? {};
      return rows[0]?.kept === true;
    });
  } catch (error) {
    const isRejected = sqlStateOf(error) === PROTOCOL_VIOLATION;
    if (isRejected && /start-?up parameter|options/i.test((error as Error).message)) return false;
    throw error;
  }
}

/**
 * Whether another session of the server knows a statement by its name. If the other session is not seen, the result is
 * no.
 */
function keepsNames(choice: ServerChoice): Promise<boolean> {
  return withClients(choice, 1 + PROBES, {}, async ([prober, ...others]) => {
    const named = { name: 'pooler_probe', text: 'SELECT pg_backend_pid() AS session' };
    const probe = async () => (await prober?.query<{ session: number }>(named))?.rows[0]?.session;
    const detect = async (): Promise<boolean> => {
      const first = await probe();
      for (const other of others) {
        // This occupies a session of the server for a while, probably the last one used.
        await other.query('BEGIN');
        if ((await probe()) !== first) return true;
      }
      return false;
    };
    const patience = sleep(PROBE_PATIENCE_MS, false, { ref: false });
    return Promise.race([detect().catch(() => false), patience]);
  });
}

async function withClients<T>(
  choice: ServerChoice,
  count: number,
  settings: pg.ClientConfig,
  work: (clients: readonly pg.Client[]) => Promise<T>,
): Promise<T> {
  const clients = Array.from({ length: count }, () =>
    // An error of the session rejects the statement that waits for it.
    new ChosenClient({
      ...settings,
      choice,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    }).on('error', () => undefined),
  );
  try {
    for (const client of clients) await client.connect();
    return await work(clients);
  } finally {
    // Not awaited: a session that hangs is closed.
    for (const client of clients) void client.end().catch(() => undefined);
  }
}
