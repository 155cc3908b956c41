import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { BUILT_IN_MODELS } from '../src/catalog/models/built-in.models.js';
import { Catalog } from '../src/catalog/catalog.js';
import { EmbeddedPostgres } from '../src/platform/database/embedded/embedded-postgres.js';
import { SONG_EXAMPLES } from '../src/music/dto/song-examples.js';
import { SongBodyPipe } from '../src/music/dto/song-body.pipe.js';
import { pollDelayMs } from '../src/tasks/worker/poll-pace.js';
import { type BenchResult, percentile, round } from './result.js';
import { serverUrl } from './servers/load.js';
import { fundedKey, type RunningServer, startBuiltGateway, startServer } from './servers/start.js';

const TASKS = 5_000;
const CALLERS = 48;
/** Jobs last this long, so that all are open at once and then end one after another. */
const LASTS_MS = { least: 40_000, most: 70_000 };
const FIRST_INTERVAL_MS = 5_000;
const PATIENCE_MS = 60_000;
const PIPE_ROUNDS = 2_000;
const TARGETS = {
  'slowest of the 42 bodies, ms': '≤ 0.2',
  'submissions per bare insert': '≥ 0.5',
  'beyond its poll interval, p99 ms': '≤ 2000',
};

/**
 * The check of each song body; submissions of `song-music` with a webhook, compared with an endpoint that inserts one
 * row, which does no work at a provider: so they go to a gateway of ROLE=api, and once more to one that also works at
 * the provider meanwhile; and how long a webhook comes after the provider's success, without the longest wait between
 * two polls at that age.
 */
export async function run(): Promise<BenchResult> {
  const slowestMs = slowestBody();
  const folder = await mkdtemp(join(tmpdir(), 'shim-bench-'));
  await chmod(folder, 0o755);
  const postgres = await EmbeddedPostgres.start({ dataDir: join(folder, 'pg') });
  const songs = await startServer('song-jobs.ts');
  const bare = await startServer('bare-insert.ts', postgres.url);
  const settings = {
    DATABASE_URL: postgres.url,
    SECRET_KEY: 'a-secret-key-for-benchmarks-only-0123456789',
    TTAPI_API_KEY: 'none',
    TTAPI_BASE_URL: serverUrl(songs, ''),
    EGRESS_ALLOW: '127.0.0.1',
    RATE_LIMIT_RPM: '0',
    TASK_POLL_INTERVAL_MS: String(FIRST_INTERVAL_MS),
  };
  const start = (role: 'api' | 'worker' | 'all') =>
    startBuiltGateway({ ...settings, ROLE: role }, join(folder, role));
  const body = (order: number, lastsMs: number) => ({
    model: 'song-music',
    prompt: `order ${order} lasts ${lastsMs}`,
    webhook: serverUrl(songs, `/hook/${order}`),
    webhook_secret: 'a-secret-of-a-receiver',
  });
  const span = LASTS_MS.most - LASTS_MS.least;
  const anyLength = (order: number) =>
    body(order, LASTS_MS.least + Math.floor(Math.random() * span));
  const submissions = async ({ port }: RunningServer): Promise<number> => {
    const headers = { authorization: `Bearer ${await fundedKey(port)}` };
    return perSecond(`http://127.0.0.1:${port}/v1/music/generations`, headers, anyLength);
  };
  try {
    const inserted = await perSecond(serverUrl(bare, '/'), {}, anyLength);
    const submitted = await during(start('api'), submissions);
    const waits = await during(start('worker'), () => allWaits(serverUrl(songs, '/waits')));
    const beside = await during(start('all'), submissions);
    const beyond = waits.map(([age, wait]) => wait - pollDelayMs(age, FIRST_INTERVAL_MS, 1));
    const figures = {
      'slowest of the 42 bodies, ms': round(slowestMs, 3),
      'submissions per second': round(submitted, 0),
      'bare inserts per second': round(inserted, 0),
      'submissions per bare insert': round(submitted / inserted),
      'the same with the work at the provider beside': round(beside / inserted),
      'webhooks of open tasks': waits.length,
      'success to webhook, p50 ms': percentile(
        waits.map(([, wait]) => wait),
        0.5,
      ),
      'success to webhook, p99 ms': percentile(
        waits.map(([, wait]) => wait),
        0.99,
      ),
      'beyond its poll interval, p99 ms': percentile(beyond, 0.99),
    };
    return {
      name: 'songs',
      figures,
      targets: TARGETS,
      passed:
        slowestMs <= 0.2 &&
        submitted / inserted >= 0.5 &&
        waits.length === TASKS &&
        figures['beyond its poll interval, p99 ms'] <= 2_000,
    };
  } finally {
    await Promise.all([songs.stop(), bare.stop()]);
    await postgres.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

/** What `work` makes of a server, which is stopped afterwards. */
async function during<T>(
  starting: Promise<RunningServer>,
  work: (server: RunningServer) => Promise<T>,
): Promise<T> {
  const server = await starting;
  try {
    return await work(server);
  } finally {
    await server.stop();
  }
}

/** Milliseconds that the check of a body takes, of the slowest model. */
function slowestBody(): number {
  const pipe = new SongBodyPipe(new Catalog(BUILT_IN_MODELS, () => true));
  const times = Object.entries(SONG_EXAMPLES).map(([model, { summary: _, ...fields }]) => {
    const check = () => pipe.transform({ model, ...fields });
    for (let warm = 0; warm < PIPE_ROUNDS; warm += 1) check();
    const startedMs = performance.now();
    for (let turn = 0; turn < PIPE_ROUNDS; turn += 1) check();
    return (performance.now() - startedMs) / PIPE_ROUNDS;
  });
  if (times.length !== 42) throw new Error(`${times.length} bodies`);
  return Math.max(...times);
}

/** Posts per second of a body made from a number, with this many callers. */
async function perSecond(
  url: string,
  headers: Record<string, string>,
  bodyOf: (number: number) => object,
): Promise<number> {
  let next = 0;
  const startedMs = performance.now();
  const caller = async (): Promise<void> => {
    while (next < TASKS) {
      const body = JSON.stringify(bodyOf(next++));
      const sent = { ...headers, 'content-type': 'application/json' };
      const answer = await fetch(url, { method: 'POST', headers: sent, body });
      if (answer.status !== 202) throw new Error(`${answer.status}: ${await answer.text()}`);
      await answer.arrayBuffer();
    }
  };
  await Promise.all(Array.from({ length: CALLERS }, caller));
  return TASKS / ((performance.now() - startedMs) / 1_000);
}

/** Age at success and time to the webhook of every task; fewer if some never arrive. */
async function allWaits(url: string): Promise<[number, number][]> {
  const untilMs = performance.now() + LASTS_MS.most + PATIENCE_MS;
  for (;;) {
    const waits = (await (await fetch(url)).json()) as [number, number][];
    if (waits.length >= TASKS || performance.now() > untilMs) return waits;
    await sleep(1_000);
  }
}
