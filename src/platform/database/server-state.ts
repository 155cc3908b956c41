import pg from 'pg';
import { databaseUrlsOf } from '../../common/database-urls.js';

/** What a server is: it takes writes, it follows another server, or it gave no answer. */
export type ServerState = 'writable' | 'standby' | 'away';

const LIMIT_MS = 2_000;
const IN_RECOVERY = 'SELECT pg_is_in_recovery() AS standby';

/**
 * Looks at every server that the URL names, for two seconds at most: `writable` if one takes writes, else `standby` if one
 * follows another, else `away`. What is wrong with a server that gives no answer is told by whoever connects to it.
 */
export async function stateOfServers(url: string): Promise<ServerState> {
  const states = await Promise.all(databaseUrlsOf(url).urls.map(stateOf));
  return (['writable', 'standby'] as const).find((state) => states.includes(state)) ?? 'away';
}

async function stateOf(connectionString: string): Promise<ServerState> {
  const client = new pg.Client({
    connectionString,
    connectionTimeoutMillis: LIMIT_MS,
    query_timeout: LIMIT_MS,
  });
  client.on('error', () => undefined);
  try {
    await client.connect();
    const { rows } = await client.query<{ standby: boolean }>(IN_RECOVERY);
    return rows[0]?.standby === true ? 'standby' : 'writable';
  } catch {
    return 'away';
  } finally {
    // Not awaited: a session that hangs is closed.
    void client.end().catch(() => undefined);
  }
}
