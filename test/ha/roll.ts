import { setTimeout as sleep } from 'node:timers/promises';
import { createDataSource } from '../../src/platform/database/data-source.js';
import { fromPublicId } from '../../src/common/ids/public-id.js';
import type { Sandbox } from '../../src/sandbox/sandbox.js';
import { Haproxy } from '../support/haproxy.js';
import { freePort, type GatewayProgram, startGatewayProgram } from '../support/process.js';
import { ReplicatedPostgres } from '../support/replicated-postgres.js';
import { until } from '../support/until.js';
import { startWebhookReceiver, type WebhookReceiver } from '../support/webhook-receiver.js';
import { faultsOfBooks } from './books.js';
import { type RollTold, startRollClients } from './roll-clients.js';

/** As many as the file of HAProxy names. */
const GATEWAYS = 2;
const DEFAULT_RESTARTS = 20;
const MAX_RESTARTS = 200;
const BEFORE_MS = 3_000;
/** Of one restart: a drain with streams of ten seconds, a start, and the balancer that sees it. */
const RESTART_MS = 180_000;
const TASKS_MS = 120_000;
const CREDIT = 1_000_000_000_000n;
/** Of jobs that are told apart; more than are ordered. */
const MAX_JOBS = 100_000;
/** The share of calls that are at most as slow as the figure that is told. */
const SHARE = 0.99;

/** What is removed at the end, by whoever runs this. */
type OnEnd = (end: () => Promise<unknown>) => void;

/**
 * Restarts gateways one by one behind HAProxy, under load, with the file of `deploy` and the defaults of production. Prints what
 * happened; ends with 1 if a request was refused or broken, a task lost or made twice, or the books are wrong.
 */
export async function tryRoll(
  settings: NodeJS.ProcessEnv,
  sandbox: Sandbox,
  onEnd: OnEnd,
): Promise<void> {
  const restarts = wantedRestarts(process.argv);
  const server = await ReplicatedPostgres.start();
  onEnd(() => server.remove());
  await server.query('CREATE DATABASE shim');
  const receiver = await startWebhookReceiver();
  onEnd(() => receiver.stop());
  const environment = {
    ...settings,
    NODE_ENV: 'production',
    DATABASE_URL: server.url('shim'),
    TRUST_PROXY: '127.0.0.1',
    OPENAI_API_KEY: sandbox.apiKey,
    OPENAI_BASE_URL: `${sandbox.url}/openai/v1`,
    EGRESS_ALLOW: `${settings.EGRESS_ALLOW},${receiver.settings.EGRESS_ALLOW}`,
  };
  const gateways: GatewayProgram[] = [];
  while (gateways.length < GATEWAYS) {
    gateways.push(await startGatewayProgram({ ...environment, PORT: String(await freePort()) }));
  }
  const [first, second] = gateways.map(({ url }) => url);
  const balancer = await Haproxy.start('gateways.cfg', { FIRST: first!, SECOND: second! });
  const { headers, accountId } = await gateways[0]!.account(CREDIT);
  const clients = startRollClients(balancer.url, headers, receiver.url);
  await sleep(BEFORE_MS);
  const seconds: number[] = [];
  for (let turn = 0; turn < restarts; turn += 1) {
    seconds.push(await restart(gateways, turn % gateways.length, balancer, environment));
  }
  await clients.end();
  const { told } = clients;
  const faults = [
    ...[...told.causes].map(([cause, count]) => `${count} times ${cause}`),
    ...(await faultsOfTasks(server.url('shim'), told, sandbox, receiver)),
    ...(await faultsOfBooks(server.url('shim'), accountId, told)),
  ];
  for (const gateway of gateways) await gateway.end('SIGTERM');
  print(told, seconds, faults, await balancer.sums());
}

/** The number after `--restarts`, or 20. */
function wantedRestarts(args: readonly string[]): number {
  const at = args.indexOf('--restarts');
  const restarts = at < 0 ? DEFAULT_RESTARTS : Number(args[at + 1]);
  if (Number.isInteger(restarts) && restarts >= 1 && restarts <= MAX_RESTARTS) return restarts;
  throw new Error(`--restarts is a number from 1 to ${MAX_RESTARTS}`);
}

/** Ends one gateway and starts another at its port; returns the seconds until the balancer sends calls to it. */
async function restart(
  gateways: GatewayProgram[],
  index: number,
  balancer: Haproxy,
  environment: NodeJS.ProcessEnv,
): Promise<number> {
  const beganMs = performance.now();
  const old = gateways[index]!;
  const { code, signal } = await old.end('SIGTERM');
  if (code !== 0) throw new Error(`a gateway ended with ${code ?? signal}: ${old.stderr()}`);
  gateways[index] = await startGatewayProgram({ ...environment, PORT: new URL(old.url).port });
  await until(() => balancer.areUp(), RESTART_MS);
  return (performance.now() - beganMs) / 1_000;
}

/** Tasks that are not done, were made twice at the provider, or whose end was not told once. */
async function faultsOfTasks(
  url: string,
  told: RollTold,
  sandbox: Sandbox,
  receiver: WebhookReceiver,
): Promise<string[]> {
  const dataSource = await createDataSource({ url }).initialize();
  try {
    const ids = told.tasks.map((id) => fromPublicId('task', id));
    await until(async () => {
      const [row] = await dataSource.query<{ n: number }[]>(
        `SELECT count(*)::int AS n FROM task WHERE id = ANY ($1::uuid[]) AND status = 'succeeded'`,
        [ids],
      );
      return row?.n === ids.length && receiver.received.length >= ids.length;
    }, TASKS_MS).catch(() => undefined);
    const jobs = (await sandbox.jobs(MAX_JOBS)).filter(({ label }) => label.includes('order '));
    const orders = new Set(jobs.map(({ label }) => /order \d+/.exec(label)?.[0]));
    const hooks = receiver.received.map(
      ({ body }) => (JSON.parse(body.toString()) as { id: string }).id,
    );
    const [left] = await dataSource.query<{ n: number }[]>(
      `SELECT count(*)::int AS n FROM task WHERE status <> 'succeeded'`,
    );
    const missing = told.tasks.filter((id) => !hooks.includes(id)).length;
    return [
      ...(left?.n === 0 ? [] : [`${left?.n} tasks did not succeed`]),
      ...(jobs.length === orders.size ? [] : [`${jobs.length} jobs of ${orders.size} orders`]),
      ...(orders.size >= told.tasks.length
        ? []
        : [`${orders.size} jobs of ${told.tasks.length} tasks`]),
      ...(missing === 0 ? [] : [`the end of ${missing} tasks was not told`]),
      ...(hooks.length === new Set(hooks).size ? [] : ['the end of a task was told twice']),
    ];
  } finally {
    await dataSource.destroy();
  }
}

function print(
  told: RollTold,
  seconds: readonly number[],
  faults: readonly string[],
  sums: Readonly<Record<string, number>>,
): void {
  const { call, stream, upload, task } = told.made;
  const sorted = told.callMs.toSorted((a, b) => a - b);
  const slow = sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * SHARE))] ?? 0;
  const mean = seconds.reduce((sum, each) => sum + each, 0) / seconds.length;
  const lines = [
    `${faults.length === 0 ? 'ok  ' : 'FAIL'} roll, ${seconds.length} restarts: ${call} calls, ${stream} streams, ${upload} uploads, ${task} tasks, ${told.refused} refused, ${told.broken} broken`,
    `     p99 of calls ${Math.round(slow)} ms; ${mean.toFixed(1)} s per restart, ${Math.max(...seconds).toFixed(1)} s the longest`,
    `     HAProxy: ${Object.entries(sums)
      .map(([name, value]) => `${name} ${value}`)
      .join(', ')}`,
    ...faults.map((fault) => `     ${fault}`),
  ];
  process.stdout.write(`${lines.join('\n')}\n`);
  if (faults.length > 0) process.exitCode = 1;
}
