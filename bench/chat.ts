import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { type BenchResult, percentile, round } from './result.js';
import { compareRates, type Target, serverUrl } from './servers/load.js';
import {
  BENCH_ADMIN_TOKEN,
  fundedKey,
  residentMb,
  type RunningServer,
  startBuiltGateway,
  startServer,
} from './servers/start.js';
import { portkeyHeaders, startPortkey } from './servers/portkey.js';

/** The warm-up lasts until everything is compiled. */
const PLAN = { connections: 50, rounds: 3, roundSeconds: 4, warmUpSeconds: 8 };
const STREAMS = 1_000;
const PACE_MS = 200;
const PATH = '/v1/chat/completions';
const ASK = { model: 'gen-5', messages: [{ role: 'user', content: 'Why is the sky blue?' }] };
/** 10 prompt and 100 completion tokens of `gen-5`. */
const CALL_MICRO_USD = 1_013n;
const CREDIT = 900_000_000_000_000n;

/** Chat with an instant upstream, compared with plain proxies and with another gateway; then 1,000 streams at once. */
export async function run(): Promise<BenchResult> {
  const upstream = await startServer('instant-chat.ts', PACE_MS);
  const gateway = await startBuiltGateway({
    OPENAI_API_KEY: 'bench',
    OPENAI_BASE_URL: `http://127.0.0.1:${upstream.port}/v1`,
    RATE_LIMIT_RPM: '10000000',
    MAX_PARALLEL_CALLS_PER_KEY: String(2 * STREAMS),
    SANDBOX: 'off',
  });
  try {
    const key = await fundedKey(gateway.port);
    const json = { 'content-type': 'application/json' };
    const target = {
      url: serverUrl(gateway, PATH),
      headers: { ...json, authorization: `Bearer ${key}` },
    };
    const rates = await compare(upstream, target);
    const streams = await stream(gateway, target, {
      url: serverUrl(upstream, PATH),
      headers: json,
    });
    const exact = await booksAreExact(gateway);
    const isFaster = rates.gateway >= 1.2 * rates.express;
    const beats = Number.isNaN(rates.portkey) || rates.gateway >= 2 * rates.portkey;
    return {
      name: 'chat',
      figures: {
        'gateway req/s': round(rates.gateway, 0),
        'express + axios req/s': round(rates.express, 0),
        'node:http + undici req/s': round(rates.limit, 0),
        'portkey req/s': round(rates.portkey, 0),
        'gateway / express + axios': round(rates.gateway / rates.express),
        'gateway / node:http + undici': round(rates.gateway / rates.limit),
        'gateway / portkey': round(rates.gateway / rates.portkey),
        ...streams.figures,
        'books exact': String(exact),
      },
      targets: {
        'gateway / express + axios': '≥ 1.2',
        'gateway / portkey': '≥ 2',
        'added p99 ms per chunk': '≤ 20',
        'memory MB': '≤ 400',
        'open afterwards': '0',
      },
      passed: isFaster && beats && streams.passed && exact,
    };
  } finally {
    await gateway.stop();
    await upstream.stop();
  }
}

/** Requests per second of each, in turns; the median of three. */
async function compare(upstream: RunningServer, gateway: Target) {
  const express = await startServer('chat-express-proxy.ts', upstream.port);
  const limit = await startServer('chat-undici-proxy.ts', upstream.port);
  const portkey = await startPortkey();
  const json = { 'content-type': 'application/json' };
  const targets: Record<string, Target> = {
    gateway,
    express: { url: serverUrl(express, PATH), headers: json },
    limit: { url: serverUrl(limit, PATH), headers: json },
    ...(portkey && {
      portkey: {
        url: serverUrl(portkey, PATH),
        headers: portkeyHeaders(serverUrl(upstream, '/v1')),
      },
    }),
  };
  try {
    const rates = await compareRates(targets, JSON.stringify(ASK), PLAN);
    const rateOf = (name: string) => rates[name] ?? Number.NaN;
    return {
      gateway: rateOf('gateway'),
      express: rateOf('express'),
      limit: rateOf('limit'),
      portkey: rateOf('portkey'),
    };
  } finally {
    await Promise.all([express.stop(), limit.stop(), portkey?.stop()]);
  }
}

/** How long each chunk of 1,000 streams takes, through the gateway and directly. */
async function stream(gateway: RunningServer, target: Target, direct: Target) {
  await delays(target, STREAMS / 2);
  const past = await delays(direct, STREAMS);
  const memory = peakMemory(gateway.process.pid ?? 0);
  const through = await delays(target, STREAMS);
  const peakMb = await memory.stop();
  const open = await heldMicroUsd(gateway);
  const added = (share: number) => percentile(through, share) - percentile(past, share);
  return {
    figures: {
      'chunks read': through.length,
      'added p50 ms per chunk': round(added(0.5)),
      'added p99 ms per chunk': round(added(0.99)),
      'direct p99 ms per chunk': round(percentile(past, 0.99)),
      'memory MB': round(peakMb, 0),
      'open afterwards': open,
    },
    passed: added(0.99) <= 20 && peakMb <= 400 && open === '0' && through.length === STREAMS * 100,
  };
}

/** Opens the streams within one second and reads them all; the delay of every chunk in ms. */
async function delays(target: Target, count: number): Promise<number[]> {
  const agent = new Agent({ keepAlive: false, maxSockets: count });
  const times: number[] = [];
  await Promise.all(
    Array.from({ length: count }, async (_, index) => {
      await sleep((index * 1_000) / count);
      await readStream(target, agent, times);
    }),
  );
  agent.destroy();
  return times;
}

function readStream({ url, headers }: Target, agent: Agent, times: number[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const call = request(url, { method: 'POST', agent, headers });
    call.on('error', reject);
    call.on('response', (answer) => {
      let isDone = false;
      answer.setEncoding('utf8');
      answer.on('data', (text: string) => {
        const now = performance.timeOrigin + performance.now();
        for (const [, writtenAt] of text.matchAll(/"content":"([\d.]+) "/g)) {
          times.push(now - Number(writtenAt));
        }
        isDone ||= text.includes('[DONE]');
      });
      answer.on('error', reject);
      answer.on('end', () => {
        if (isDone) resolve();
        else reject(new Error(`a stream ended early: ${answer.statusCode ?? 0}`));
      });
    });
    call.end(JSON.stringify({ ...ASK, stream: true }));
  });
}

/** Samples the resident memory of a process every 100 ms. */
function peakMemory(pid: number) {
  let peakMb = 0;
  const look = async () => {
    peakMb = Math.max(peakMb, await residentMb(pid));
  };
  const timer = setInterval(() => void look(), 100);
  return {
    async stop(): Promise<number> {
      clearInterval(timer);
      await look();
      return peakMb;
    },
  };
}

interface Audit {
  readonly ok: boolean;
  readonly held_microusd: string;
  readonly posted_microusd: string;
}

async function audit(gateway: RunningServer): Promise<Audit> {
  const answer = await fetch(serverUrl(gateway, '/admin/audit'), {
    headers: { authorization: `Bearer ${BENCH_ADMIN_TOKEN}` },
  });
  return (await answer.json()) as Audit;
}

async function heldMicroUsd(gateway: RunningServer): Promise<string> {
  return (await audit(gateway)).held_microusd;
}

async function booksAreExact(gateway: RunningServer): Promise<boolean> {
  const { ok, posted_microusd: posted } = await audit(gateway);
  return ok && (CREDIT - BigInt(posted)) % CALL_MICRO_USD === 0n;
}
