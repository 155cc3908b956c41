import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmod, chown, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { startSandbox } from '../../src/sandbox/sandbox.js';
import { cleanUp, freePort, startGatewayProgram, temporaryFolder } from '../support/process.js';
import { ReplicatedPostgres } from '../support/replicated-postgres.js';
import { systemProgram } from '../support/system-program.js';
import { until } from '../support/until.js';
import { faultsOfBooks } from './books.js';
import { startLoad } from './load.js';
import { type Disaster, LeaderPair, type LeadingCluster } from './pair.js';
import { patroniPrograms, PatroniPair } from './patroni.js';
import { tryRoll } from './roll.js';

/**
 * `npm run test:ha`: two gateways, a leader and a standby that it waits for, on loopback. Under load the leader is killed, hangs
 * and is stopped, the standby lags, and the disk of the leader is full; the leader is killed once more behind PgBouncer and HAProxy. Then
 * the same with Patroni and etcd, which choose the leader; and gateways are restarted one by one behind HAProxy. All with the files of
 * `deploy`. After each: exact books, every 200 charged once, every accepted task there. It prints a line for each and ends with 1 if one does not hold.
 */
const DEPLOY = fileURLToPath(new URL('../../deploy', import.meta.url));
const BEFORE_MS = 3_000;
const AFTER_MS = 4_000;
const BACK_MS = 60_000;
/** Of a disk that is to be full. */
const DISK = '600m';
const CREDIT = 1_000_000_000_000n;
const NOBODY = 65_534;
/** No call ends meanwhile, for so long at least. */
const PAUSES: readonly Disaster[] = ['lag', 'full disk'];
const PAUSE_MS = 3_000;

const haproxy = systemProgram('haproxy', '/usr/sbin/haproxy');
const pgbouncer = systemProgram('pgbouncer', '/usr/sbin/pgbouncer');
if (!ReplicatedPostgres.programs || !haproxy || !pgbouncer || !patroniPrograms()) {
  process.stderr.write(
    'Install them first: apt-get install postgresql haproxy pgbouncer patroni etcd-server python3-etcd\n',
  );
  process.exit(1);
}

const ends: (() => Promise<unknown>)[] = [];
try {
  await runAll();
} finally {
  // First, because Patroni's servers keep its pipes open, which the clean-up waits for.
  for (const end of ends.reverse()) await end();
  await cleanUp();
}

async function runAll(): Promise<void> {
  const sandbox = await startSandbox();
  ends.push(() => sandbox.close());
  const { apiKey, url } = sandbox;
  const settings = {
    ELEVENLABS_API_KEY: apiKey,
    ELEVENLABS_BASE_URL: `${url}/elevenlabs`,
    VIDEO_API_KEY: apiKey,
    VIDEO_BASE_URL: `${url}/video/v1`,
    EGRESS_ALLOW: new URL(url).host,
    TASK_TICK_MS: '200',
    HOLD_SWEEP_MS: '1000',
  };
  const groups = {
    pair: tryPair,
    disk: trySmallDisk,
    patroni: tryPatroni,
    roll: (common: NodeJS.ProcessEnv) => tryRoll(common, sandbox, (end) => ends.push(end)),
  };
  const words = process.argv.slice(2);
  const wanted = words.filter(
    (word, at) => !word.startsWith('--') && words[at - 1] !== '--restarts',
  );
  const unknown = wanted.find((word) => !Object.keys(groups).includes(word));
  if (unknown !== undefined)
    throw new Error(`${unknown} is none of ${Object.keys(groups).join(', ')}`);
  for (const [name, group] of Object.entries(groups)) {
    if (wanted.length === 0 || wanted.includes(name)) await group(settings);
  }
}

async function tryPair(settings: NodeJS.ProcessEnv): Promise<void> {
  const pair = await LeaderPair.start();
  ends.push(() => pair.remove());
  const direct = `postgresql://shim@${pair.hosts}/shim?target_session_attrs=read-write`;
  for (const how of ['kill', 'hang', 'switch-over', 'lag'] as const) {
    await tryCase(how, how, pair, { ...settings, DATABASE_URL: direct });
  }
  const pooled = `postgresql://shim@127.0.0.1:${await startPooler(pair.checks)}/shim`;
  await tryCase('pooler, kill', 'kill', pair, { ...settings, DATABASE_URL: pooled });
}

async function trySmallDisk(settings: NodeJS.ProcessEnv): Promise<void> {
  const disk = await temporaryFolder();
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${DISK},mode=755`, 'tmpfs', disk]);
  if (mounted.status !== 0) {
    process.stdout.write('skip full disk: only root can make a small disk\n');
    return;
  }
  try {
    const pair = await LeaderPair.start(disk);
    ends.push(() => pair.remove());
    await tryCase('full disk', 'full disk', pair, { ...settings, DATABASE_URL: pair.url });
    await ends.pop()?.();
  } finally {
    spawnSync('umount', ['--lazy', disk]);
  }
}

async function tryPatroni(settings: NodeJS.ProcessEnv): Promise<void> {
  const pair = await PatroniPair.start((starting) => ends.push(() => starting.remove()));
  for (const how of ['kill', 'hang', 'switch-over'] as const) {
    await tryCase(`Patroni, ${how}`, how, pair, { ...settings, DATABASE_URL: pair.url });
  }
  const pooled = `postgresql://shim:${pair.password}@127.0.0.1:${await startPooler(pair.checks, pair.password)}/shim`;
  await tryCase('Patroni, pooler, kill', 'kill', pair, { ...settings, DATABASE_URL: pooled });
}

async function tryCase(
  name: string,
  how: Disaster,
  pair: LeadingCluster,
  settings: NodeJS.ProcessEnv,
): Promise<void> {
  const gateways = [await startGatewayProgram(settings), await startGatewayProgram(settings)];
  const { headers, accountId } = await gateways[0]!.account(CREDIT);
  const load = startLoad(gateways, headers);
  await sleep(BEFORE_MS);
  const failedMs = performance.now();
  await pair.failOver(how);
  const promotedMs = performance.now();
  await until(() => load.told.lastGoodMs > promotedMs, BACK_MS);
  const awayMs = Math.round(performance.now() - failedMs);
  // Under load, so that the former leader comes back while calls go on.
  await pair.rebuild();
  await sleep(AFTER_MS);
  await load.end();
  const faults = await faultsOfBooks(pair.url, accountId, load.told);
  if (PAUSES.includes(how) && load.told.longestGapMs < PAUSE_MS)
    faults.push(`calls went on: the longest time without one was ${load.told.longestGapMs} ms`);
  for (const gateway of gateways) await gateway.end('SIGTERM');
  const { calls, tasks, refused, broken } = load.told;
  const figures = `${calls.length} calls, ${tasks.length} tasks, ${refused} refused, ${broken} without an answer, away for ${awayMs} ms`;
  process.stdout.write(`${faults.length === 0 ? 'ok  ' : 'FAIL'} ${name}: ${figures}\n`);
  for (const fault of faults) process.stdout.write(`     ${fault}\n`);
  if (faults.length > 0) process.exitCode = 1;
}

/** PgBouncer before HAProxy before servers, with the files of `deploy`. Returns PgBouncer's port. */
async function startPooler(checks: ReadonlyMap<number, number>, password = ''): Promise<number> {
  const [port, leaderPort] = [await freePort(), await freePort()];
  const [first, second] = [...checks];
  run(haproxy!, ['-db', '-f', join(DEPLOY, 'haproxy/database.cfg')], {
    BIND: `127.0.0.1:${leaderPort}`,
    FIRST: `127.0.0.1:${first![0]}`,
    FIRST_CHECK: String(first![1]),
    SECOND: `127.0.0.1:${second![0]}`,
    SECOND_CHECK: String(second![1]),
  });
  const home = await temporaryFolder();
  const users = join(home, 'users.txt');
  const file = join(home, 'pgbouncer.ini');
  await writeFile(users, `"shim" "${password}"\n`);
  const lines = [
    `%include ${join(DEPLOY, 'pgbouncer/pgbouncer.ini')}`,
    // Still in the section [pgbouncer]: its header would set all back to the defaults.
    `listen_port = ${port}`,
    'auth_type = trust',
    `auth_file = ${users}`,
    '[databases]',
    `* = host=127.0.0.1 port=${leaderPort}`,
  ];
  await writeFile(file, `${lines.join('\n')}\n`);
  const isRoot = process.getuid?.() === 0;
  if (isRoot) for (const path of [home, users, file]) await chown(path, NOBODY, NOBODY);
  await chmod(home, 0o755);
  run(pgbouncer!, ['-q', file], {}, isRoot ? { uid: NOBODY, gid: NOBODY } : {});
  return port;
}

function run(
  program: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  identity: { readonly uid?: number; readonly gid?: number } = {},
): void {
  const child = spawn(program, args, { stdio: 'ignore', env, ...identity });
  child.on('error', () => undefined);
  const exited = once(child, 'exit');
  ends.push(() => {
    child.kill('SIGKILL');
    return exited;
  });
}
