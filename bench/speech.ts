import autocannon from 'autocannon';
import { type BenchResult, percentile, round } from './result.js';
import { compareRates, type Target, serverUrl } from './servers/load.js';
import {
  fundedKey,
  residentMb,
  type RunningServer,
  startAudioGateway,
  startServer,
} from './servers/start.js';

const CONNECTIONS = 64;
/** The warm-up lasts until all three are compiled. */
const PLAN = { connections: CONNECTIONS, rounds: 5, roundSeconds: 4, warmUpSeconds: 10 };
const RATE_PER_SECOND = 100;
const RATE_SECONDS = 8;
const MEMORY_REQUESTS = 100_000;
const BODY = JSON.stringify({ model: 'aud-v4', input: 'Hello from the benchmark.', voice: 'Adam' });
const INPUT_MICRO_USD = 25n * 120n;

/** Speech with an instant upstream: the gateway with all its checks, compared with plain proxies. */
export async function run(): Promise<BenchResult> {
  const upstream = await startServer('instant-upstream.ts');
  const express = await startServer('express-proxy.ts', upstream.port);
  const limit = await startServer('undici-proxy.ts', upstream.port);
  const gateway = await startAudioGateway(upstream, 10_000_000);
  try {
    const key = await fundedKey(gateway.port);
    const json = { 'content-type': 'application/json' };
    const path = '/v1/audio/speech';
    const targets = {
      gateway: {
        url: serverUrl(gateway, path),
        headers: { ...json, authorization: `Bearer ${key}` },
      },
      express: { url: serverUrl(express, path), headers: json },
      limit: { url: serverUrl(limit, path), headers: json },
      direct: { url: serverUrl(upstream, '/v1/text-to-speech/voice'), headers: json },
    };
    const { direct, ...proxies } = targets;
    const rates = await compareRates(proxies, BODY, PLAN);
    const added = await addedLatency(targets.gateway, direct);
    const proxied = await addedLatency(targets.express, direct);
    const growthMb = await memoryGrowth(gateway, targets.gateway);
    const charged = await chargesAreExact(gateway);
    const figures = {
      'gateway req/s': round(rates.gateway, 0),
      'express + axios req/s': round(rates.express, 0),
      'node:http + undici req/s': round(rates.limit, 0),
      'gateway / express + axios': round(rates.gateway / rates.express),
      'gateway / node:http + undici': round(rates.gateway / rates.limit),
      'added p50 ms at 100/s': round(added.p50),
      'added p99 ms at 100/s': round(added.p99),
      'express + axios: added p50 ms at 100/s': round(proxied.p50),
      'express + axios: added p99 ms at 100/s': round(proxied.p99),
      'memory growth MB over 100,000': round(growthMb, 1),
      'books exact': String(charged),
    };
    return {
      name: 'speech',
      figures,
      targets: {
        'gateway / express + axios': '≥ 1.0',
        'gateway / node:http + undici': '≥ 0.25',
        'added p50 ms at 100/s': '≤ 2',
        'added p99 ms at 100/s': '≤ 8',
        'memory growth MB over 100,000': '≤ 30',
      },
      passed:
        rates.gateway >= rates.express &&
        rates.gateway >= 0.25 * rates.limit &&
        added.p50 <= 2 &&
        added.p99 <= 8 &&
        growthMb <= 30 &&
        charged,
    };
  } finally {
    await gateway.stop();
    await Promise.all([express.stop(), limit.stop(), upstream.stop()]);
  }
}

/** An open loop: requests are sent on time, whether or not the earlier ones have been answered. */
async function latencies(target: Target): Promise<number[]> {
  const times: number[] = [];
  const pending: Promise<void>[] = [];
  const startedAt = performance.now();
  for (let index = 0; index < RATE_PER_SECOND * RATE_SECONDS; index++) {
    const due = startedAt + (index * 1000) / RATE_PER_SECOND;
    const waitMs = due - performance.now();
    if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
    const sentAt = performance.now();
    pending.push(
      fetch(target.url, { method: 'POST', headers: target.headers, body: BODY })
        .then((answer) => answer.arrayBuffer())
        .then(() => void times.push(performance.now() - sentAt)),
    );
  }
  await Promise.all(pending);
  return times;
}

async function addedLatency(gateway: Target, direct: Target) {
  await latencies(gateway);
  const through = await latencies(gateway);
  const past = await latencies(direct);
  return {
    p50: percentile(through, 0.5) - percentile(past, 0.5),
    p99: percentile(through, 0.99) - percentile(past, 0.99),
  };
}

async function memoryGrowth(gateway: RunningServer, target: Target): Promise<number> {
  const pid = gateway.process.pid ?? 0;
  const options = { url: target.url, method: 'POST', headers: target.headers, body: BODY } as const;
  const batch = (amount: number) => autocannon({ ...options, connections: CONNECTIONS, amount });
  await batch(MEMORY_REQUESTS / 5);
  const before = await residentMb(pid);
  await batch(MEMORY_REQUESTS);
  return (await residentMb(pid)) - before;
}

async function chargesAreExact(gateway: RunningServer): Promise<boolean> {
  const { BENCH_ADMIN_TOKEN } = await import('./servers/start.js');
  const answer = await fetch(serverUrl(gateway, '/admin/audit'), {
    headers: { authorization: `Bearer ${BENCH_ADMIN_TOKEN}` },
  });
  const audit = (await answer.json()) as {
    ok: boolean;
    held_microusd: string;
    posted_microusd: string;
  };
  const spent = 900_000_000_000_000n - BigInt(audit.posted_microusd);
  return audit.ok && audit.held_microusd === '0' && spent % INPUT_MICRO_USD === 0n;
}
