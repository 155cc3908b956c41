import { type BenchResult, median, round } from './result.js';
import { cpuOf, databaseCpuOf } from './servers/cpu-time.js';
import { load, type Target, serverUrl } from './servers/load.js';
import { presentNode, shippedNode } from './servers/runtime.js';
import {
  fundedKey,
  fundedKeys,
  type RunningServer,
  startBuiltGateway,
  startServerOn,
} from './servers/start.js';

const CONNECTIONS = 64;
const ROUNDS = 5;
const ROUND_SECONDS = 3;
/** Until everything is compiled. */
const WARM_UP_SECONDS = 8;
const ACCOUNTS = 1_000;
const PATH = '/v1/audio/speech';
const BODY = JSON.stringify({ model: 'aud-v4', input: 'Hello from the benchmark.', voice: 'Adam' });
const JSON_HEADERS = { 'content-type': 'application/json' };

const CHAT_PATH = '/v1/chat/completions';
const CHAT = { model: 'gen-5', messages: [{ role: 'user', content: 'Why is the sky blue?' }] };
const RUNS = 16;
const FITTED = '24: chat, a fitted hold with a run / plain';

interface Measured {
  readonly target: Target;
  /** JSON; default: speech. */
  readonly body?: string;
  readonly cpu: () => Promise<number>;
}

/**
 * CPU microseconds per speech request, from the accounting of the processes. On a busy machine it is the most reliable
 * figure. Gateway and its database, with one account and with 1,000, compared with a plain proxy and the limit, on Node
 * 24 (the image's) and on the Node that started the benchmark; and a fitted chat in a run against a plain one.
 */
export async function run(): Promise<BenchResult> {
  const shipped = await onRuntime(await shippedNode(), '24');
  const present = presentNode();
  const spread = round(
    Number(shipped['24: gateway, 1,000 accounts µs']) / Number(shipped['24: gateway µs']),
  );
  const fitted = await fittedAgainstPlain(await shippedNode());
  const figures = {
    '24: gateway, 1,000 accounts / one account': spread,
    [FITTED]: round(fitted),
    ...shipped,
    ...(present && (await onRuntime(present, 'present Node'))),
  };
  const ratio = (name: string) => Number(shipped[`24: ${name} / express + axios`]);
  return {
    name: 'cost',
    figures,
    targets: {
      '24: gateway / express + axios': '≤ 0.8',
      '24: gateway, 1,000 accounts / express + axios': '≤ 0.8',
      '24: gateway, 1,000 accounts / one account': '≤ 1.15',
      [FITTED]: '≤ 1.10',
    },
    passed:
      ratio('gateway') <= 0.8 &&
      ratio('gateway, 1,000 accounts') <= 0.8 &&
      spread <= 1.15 &&
      fitted <= 1.1,
  };
}

async function onRuntime(runtime: string, label: string): Promise<Record<string, number>> {
  const upstream = await startServerOn(process.execPath, 'instant-upstream.ts');
  const express = await startServerOn(runtime, 'express-proxy.ts', upstream.port);
  const limit = await startServerOn(runtime, 'undici-proxy.ts', upstream.port);
  const gateway = await startBuiltGateway(
    {
      ELEVENLABS_API_KEY: 'bench',
      ELEVENLABS_BASE_URL: serverUrl(upstream, ''),
      RATE_LIMIT_RPM: '0',
      SANDBOX: 'off',
    },
    undefined,
    runtime,
  );
  try {
    const costs = await measure(await measuredOf(gateway, express, limit));
    const base = costs['express + axios'] ?? Number.NaN;
    return Object.fromEntries(
      Object.entries(costs).flatMap(([name, microseconds]) => [
        [`${label}: ${name} µs`, round(microseconds, 0)],
        ...(name.startsWith('gateway')
          ? [[`${label}: ${name} / express + axios`, round(microseconds / base)] as const]
          : []),
      ]),
    );
  } finally {
    await gateway.stop();
    await Promise.all([express.stop(), limit.stop(), upstream.stop()]);
  }
}

async function measuredOf(
  gateway: RunningServer,
  express: RunningServer,
  limit: RunningServer,
): Promise<Record<string, Measured>> {
  const pidOf = (server: RunningServer) => server.process.pid ?? 0;
  const authorization = `Bearer ${await fundedKey(gateway.port)}`;
  const one = { url: serverUrl(gateway, PATH), headers: { ...JSON_HEADERS, authorization } };
  const many = { ...one, keys: await fundedKeys(gateway.port, ACCOUNTS) };
  const bare = (server: RunningServer): Measured => ({
    target: { url: serverUrl(server, PATH), headers: JSON_HEADERS },
    cpu: () => cpuOf(pidOf(server)),
  });
  return {
    gateway: { target: one, cpu: () => cpuOf(pidOf(gateway)) },
    'gateway, 1,000 accounts': { target: many, cpu: () => cpuOf(pidOf(gateway)) },
    database: { target: one, cpu: () => databaseCpuOf(pidOf(gateway)) },
    'database, 1,000 accounts': { target: many, cpu: () => databaseCpuOf(pidOf(gateway)) },
    'express + axios': bare(express),
    'node:http + undici': bare(limit),
  };
}

/**
 * CPU of gateway and database for chats whose hold takes what fits and that count in one of 16 runs, as a multiple of that for chats
 * that name their cap.
 */
async function fittedAgainstPlain(runtime: string): Promise<number> {
  const upstream = await startServerOn(process.execPath, 'instant-chat.ts');
  const env = {
    OPENAI_API_KEY: 'bench',
    OPENAI_BASE_URL: serverUrl(upstream, '/v1'),
    RATE_LIMIT_RPM: '0',
    SANDBOX: 'off',
  };
  const gateway = await startBuiltGateway(env, undefined, runtime);
  try {
    const pid = gateway.process.pid ?? 0;
    const authorization = `Bearer ${await fundedKey(gateway.port)}`;
    const headers = { ...JSON_HEADERS, authorization };
    const target = { url: serverUrl(gateway, CHAT_PATH), headers };
    const limited = { ...headers, 'x-gateway-run-limit-microusd': String(10n ** 15n) };
    const runs = Array.from({ length: RUNS }, (_, run) => `run ${run}`);
    const cpu = async () => (await cpuOf(pid)) + (await databaseCpuOf(pid));
    const costs = await measure({
      plain: { target, body: JSON.stringify({ ...CHAT, max_tokens: 1_000 }), cpu },
      fitted: { target: { ...target, headers: limited, runs }, body: JSON.stringify(CHAT), cpu },
    });
    return (costs.fitted ?? Number.NaN) / (costs.plain ?? Number.NaN);
  } finally {
    await gateway.stop();
    await upstream.stop();
  }
}

/** CPU microseconds per request of each, in turns; the median of the rounds. */
async function measure(measured: Record<string, Measured>): Promise<Record<string, number>> {
  const names = Object.keys(measured);
  const costs = new Map<string, number[]>(names.map((name) => [name, []]));
  for (const { target, body = BODY } of Object.values(measured)) {
    await load(target, body, CONNECTIONS, WARM_UP_SECONDS);
  }
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [name, { target, body = BODY, cpu }] of Object.entries(measured)) {
      const before = await cpu();
      const { requests } = await load(target, body, CONNECTIONS, ROUND_SECONDS);
      costs.get(name)?.push(((await cpu()) - before) / requests);
    }
  }
  return Object.fromEntries(names.map((name) => [name, median(costs.get(name) ?? [])]));
}
