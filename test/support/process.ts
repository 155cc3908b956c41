import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, mkdtemp, readdir, readlink, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { START_FLAGS } from '../../scripts/start-flags.js';
import { type Answer, send } from './http-answer.js';
import { fatalLinesOf, refuseFatal } from './fatal-lines.js';
import type { TestAccount } from './gateway.js';
import { until } from './until.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** Of a test that starts processes. */
export const PROCESS_TEST_TIMEOUT_MS = 120_000;
/** The operator's token of a spawned gateway. */
const ADMIN_TOKEN = 'process-admin-token-0123456789';
/** Settings that a gateway with an external database needs. */
export const SECRET_KEY = 'a-secret-key-for-processes-0123456789';

/** The user, the process group and the limits of a program. */
export interface SpawnIdentity {
  readonly uid?: number;
  readonly gid?: number;
  /** In a process group of its own, which a test can signal as a terminal does. */
  readonly detached?: boolean;
  /** No file that it writes may become larger than so many blocks of 512 bytes; its writes fail as on a full disk. */
  readonly fileBlocks?: number;
  /** The test provokes fatal lines in its log. Elsewhere {@link cleanUp} throws if there is one. */
  readonly mayLogFatal?: boolean;
  /** The folder of another version of the gateway, whose build is run. */
  readonly root?: string;
}

/** How a process ended. */
export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A program of the build in a process of its own, seen from outside. */
export interface Program {
  readonly child: ChildProcess;
  readonly pid: number;
  readonly exited: Promise<Exit>;
  /** What it wrote so far. */
  stdout(): string;
  stderr(): string;
  /** Sends the signal and waits for the end. */
  end(signal: NodeJS.Signals): Promise<Exit>;
}

/** A gateway in a process of its own. */
export interface GatewayProgram extends Program {
  readonly url: string;
  /** An operator's call. */
  admin(method: string, path: string, body?: object): Promise<Answer>;
  /** A fresh account with `credit` micro-USD and one key. */
  account(credit?: bigint, terms?: object): Promise<TestAccount & { readonly keyId: string }>;
}

const started = new Set<Program>();
const folders = new Set<string>();
/** Of every program that has ended, but for those that may have some. */
const fatalLines: string[] = [];

/** A new empty directory that {@link cleanUp} removes; other users may get in. */
export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'shim-process-'));
  await chmod(folder, 0o755);
  folders.add(folder);
  return folder;
}

/**
 * Ends everything this file started and removes its folders; call it in `afterAll`. Throws if the log of a gateway had a
 * fatal line.
 */
export async function cleanUp(): Promise<void> {
  await Promise.all([...started].map((program) => program.end('SIGKILL')));
  for (const folder of folders) {
    await until(async () => (await processesIn(folder)).length === 0);
    await rm(folder, { recursive: true, force: true });
  }
  refuseFatal(fatalLines.splice(0));
}

/** Ids of the processes that work in a directory or below it: those of an embedded database. */
export async function processesIn(folder: string): Promise<number[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
  const homes = await Promise.all(pids.map((pid) => readlink(`/proc/${pid}/cwd`).catch(() => '')));
  return pids.filter((_pid, index) => homes[index]?.startsWith(folder));
}

/** Below the ports that the system gives to servers and connections of other tests. */
const PORTS = { first: 20_000, count: 10_000 } as const;

/** A port that is free now. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = PORTS.first + Math.floor(Math.random() * PORTS.count);
    const server = createServer().listen(port, '127.0.0.1');
    const isFree = await once(server, 'listening').then(
      () => true,
      () => false,
    );
    if (!isFree) continue;
    server.close();
    await once(server, 'close');
    return port;
  }
}

/** Runs a command with only `PATH` and `HOME` of our environment. */
export function runProgram(
  command: readonly [string, ...string[]],
  settings: NodeJS.ProcessEnv = {},
  options: SpawnIdentity = {},
): Program {
  const [file, ...args] = command;
  const { PATH, HOME } = process.env;
  const { mayLogFatal = false, root = ROOT, ...identity } = options;
  const child = spawn(file, args, {
    cwd: root,
    env: { PATH, HOME, ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...identity,
  });
  const text = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (text.stdout += chunk));
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => (text.stderr += chunk));
  const exited = once(child, 'close').then(([code, signal]): Exit => ({
    code: code as number | null,
    signal: signal as NodeJS.Signals | null,
  }));
  const program: Program = {
    child,
    pid: child.pid ?? 0,
    exited,
    stdout: () => text.stdout,
    stderr: () => text.stderr,
    end(signal) {
      if (child.exitCode === null && child.signalCode === null) child.kill(signal);
      return exited;
    },
  };
  started.add(program);
  void exited.then(() => {
    started.delete(program);
    if (!mayLogFatal) fatalLines.push(...fatalLinesOf(text.stdout));
  });
  return program;
}

/** Runs a file of the build. */
export function runBuilt(
  file: 'main.js' | 'cli.js',
  args: readonly string[],
  settings: NodeJS.ProcessEnv,
  options: SpawnIdentity = {},
): Program {
  const built = join(options.root ?? ROOT, 'dist', file);
  if (!existsSync(built)) throw new Error('There is no build: run nest build.');
  const flags = file === 'main.js' ? START_FLAGS : [];
  const program = [process.execPath, ...flags, built, ...args] as const;
  const { fileBlocks, ...identity } = options;
  if (fileBlocks === undefined) return runProgram(program, settings, identity);
  const limited = `ulimit -f ${fileBlocks}; exec "$0" "$@"`;
  return runProgram(['sh', '-c', limited, ...program], settings, identity);
}

/** Starts a gateway and waits until it is ready. Without `DATABASE_URL` it needs a `DATA_DIR`. */
export async function startGatewayProgram(
  settings: NodeJS.ProcessEnv,
  options?: SpawnIdentity,
): Promise<GatewayProgram> {
  const port = settings.PORT ?? String(await freePort());
  const url = `http://127.0.0.1:${port}`;
  const token = settings.ADMIN_TOKEN ?? ADMIN_TOKEN;
  const environment = {
    SECRET_KEY,
    RATE_LIMIT_RPM: '0',
    ...settings,
    PORT: port,
    ADMIN_TOKEN: token,
  };
  const program = runBuilt('main.js', [], environment, options);
  await until(async () => {
    const { exitCode } = program.child;
    if (exitCode !== null) throw new Error(`exit ${exitCode}: ${program.stderr()}`);
    return (await statusOf(`${url}/health/ready`)) === 200;
  }, PROCESS_TEST_TIMEOUT_MS);
  return asGateway(program, url, token);
}

/** Status of an answer; undefined when nobody answers. */
export async function statusOf(url: string, init?: RequestInit): Promise<number | undefined> {
  return send(url, init).then(
    ({ status }) => status,
    () => undefined,
  );
}

function asGateway(program: Program, url: string, token: string): GatewayProgram {
  let credits = 0;
  const admin = (method: string, path: string, body?: object): Promise<Answer> =>
    send(`${url}/admin${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        'idempotency-key': `credit-${credits++}`,
        ...(body && { 'content-type': 'application/json' }),
      },
      ...(body && { body: JSON.stringify(body) }),
    });
  const made = async (path: string, body: object) => {
    const answer = await admin('POST', path, body);
    if (answer.status !== 201) throw new Error(`${path}: ${answer.bytes.toString()}`);
    return answer.json as { id: string; key: string };
  };
  return {
    ...program,
    url,
    admin,
    async account(credit = 1_000_000_000n, terms = {}) {
      const { id } = await made('/accounts', { name: 'test' });
      if (credit > 0n) {
        await made(`/accounts/${id}/credits`, { amount_microusd: credit.toString() });
      }
      const { id: keyId, key } = await made(`/accounts/${id}/keys`, terms);
      return { accountId: id, keyId, key, headers: { authorization: `Bearer ${key}` } };
    },
  };
}
