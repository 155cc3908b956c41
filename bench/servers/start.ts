import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { START_FLAGS } from '../../scripts/start-flags.js';
import { ownProcess } from './owned-processes.js';

const READY_TIMEOUT_MS = 60_000;
const SAMPLE_MS = 50;
const root = new URL('../../', import.meta.url).pathname;
/** The operator's token of a benchmarked gateway. */
export const BENCH_ADMIN_TOKEN = 'bench-admin-token-0123456789';

/** A server in a process of its own. */
export interface RunningServer {
  readonly port: number;
  readonly process: ChildProcess;
  stop(): Promise<void>;
}

/** A port that is free now. */
export async function unusedPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}

/** Starts one of the small servers beside this file. */
export function startServer(file: string, ...args: (number | string)[]): Promise<RunningServer> {
  return startServerOn(process.execPath, file, ...args);
}

/** {@link startServer} on another runtime. */
export async function startServerOn(
  runtime: string,
  file: string,
  ...args: (number | string)[]
): Promise<RunningServer> {
  const port = await unusedPort();
  const child = ownProcess(
    fork(join(root, 'bench/servers', file), [port, ...args].map(String), {
      execPath: runtime,
      execArgv: ['--import', '@swc-node/register/esm-register'],
      cwd: root,
    }),
  );
  const isUp = await Promise.race([
    once(child, 'message').then(() => true),
    once(child, 'exit').then(() => false),
  ]);
  if (!isUp) throw new Error(`${file} did not start`);
  return { port, process: child, stop: () => stopProcess(child, 'SIGKILL') };
}

/** {@link startBuiltGateway} whose only provider is this server, for audio. */
export function startAudioGateway(upstream: RunningServer, rateLimitRpm: number) {
  return startBuiltGateway({
    ELEVENLABS_API_KEY: 'bench',
    ELEVENLABS_BASE_URL: `http://127.0.0.1:${upstream.port}`,
    RATE_LIMIT_RPM: String(rateLimitRpm),
    SANDBOX: 'off',
  });
}

/**
 * Starts the built gateway on an embedded database of its own and waits until it is ready. `command` and `args` are what is
 * run.
 */
export async function startBuiltGateway(
  settings: Record<string, string>,
  dataDir?: string,
  command: string = process.execPath,
  args: readonly string[] = [...START_FLAGS, 'dist/main.js'],
): Promise<RunningServer & { readonly readyMs: number; readonly output: () => string }> {
  const port = await unusedPort();
  const folder = dataDir ?? (await mkdtemp(join(tmpdir(), 'shim-bench-')));
  const startedAt = performance.now();
  const child = ownProcess(
    spawn(command, args, {
      cwd: root,
      env: {
        ...process.env,
        PORT: String(port),
        DATA_DIR: folder,
        ADMIN_TOKEN: BENCH_ADMIN_TOKEN,
        ...settings,
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    }),
  );
  let text = '';
  child.stdout.on('data', (chunk: Buffer) => {
    if (text.length < 100_000) text += chunk.toString();
  });
  while (!(await isReady(port))) {
    if (performance.now() - startedAt > READY_TIMEOUT_MS || child.exitCode !== null) {
      throw new Error(`the gateway did not become ready: ${text}`);
    }
    await sleep(20);
  }
  const readyMs = performance.now() - startedAt;
  return {
    port,
    process: child,
    readyMs,
    output: () => text,
    async stop() {
      await stopProcess(child, 'SIGTERM');
      if (dataDir === undefined) await rm(folder, { recursive: true, force: true });
    },
  };
}

async function isReady(port: number): Promise<boolean> {
  try {
    return (await fetch(`http://127.0.0.1:${port}/health/ready`)).ok;
  } catch {
    return false;
  }
}

async function stopProcess(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill(signal);
  await exited;
}

/** Creates an account with money and a key through the operator API. */
export async function fundedKey(port: number): Promise<string> {
  const call = callsOf(port);
  const { id } = await call('/admin/accounts', { name: 'bench' });
  await call(
    `/admin/accounts/${id}/credits`,
    { amount_microusd: '900000000000000' },
    { 'idempotency-key': 'bench' },
  );
  return (await call(`/admin/accounts/${id}/keys`, {})).key;
}

/** {@link fundedKey} for many accounts, a few at a time. */
export async function fundedKeys(port: number, count: number): Promise<string[]> {
  const keys: string[] = [];
  while (keys.length < count) {
    const batch = Math.min(16, count - keys.length);
    keys.push(...(await Promise.all(Array.from({ length: batch }, () => fundedKey(port)))));
  }
  return keys;
}

function callsOf(port: number) {
  return async (path: string, body: object, headers: Record<string, string> = {}) => {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${BENCH_ADMIN_TOKEN}`,
        'content-type': 'application/json',
        ...headers,
      },
      body: JSON.stringify(body),
    });
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
    return (await answer.json()) as { id: string; key: string };
  };
}

/** Resident memory of a process in MB. */
export async function residentMb(pid: number): Promise<number> {
  const { readFile } = await import('node:fs/promises');
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? Number.NaN) / 1024;
}

/** The most resident memory, in MB, until the work is over. */
export async function peakUntil(work: Promise<unknown>, pid: number): Promise<number> {
  const watch = new AbortController();
  const stop = (): void => {
    watch.abort();
  };
  work.then(stop, stop);
  let peak = 0;
  while (!watch.signal.aborted) {
    peak = Math.max(peak, await residentMb(pid));
    await sleep(SAMPLE_MS);
  }
  return peak;
}

/** The answer of the audit. */
export interface Books {
  readonly ok: boolean;
  readonly held_microusd: string;
  readonly posted_microusd: string;
}

/** The books of a gateway, audited now. */
export async function booksOf({ port }: RunningServer): Promise<Books> {
  const headers = { authorization: `Bearer ${BENCH_ADMIN_TOKEN}` };
  return (await (await fetch(`http://127.0.0.1:${port}/admin/audit`, { headers })).json()) as Books;
}
