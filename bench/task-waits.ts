import { Agent, get } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { type BenchResult, percentile, round } from './result.js';
import { serverUrl } from './servers/load.js';
import {
  fundedKeys,
  peakUntil,
  residentMb,
  type RunningServer,
  startBuiltGateway,
  startServer,
} from './servers/start.js';

const KEYS = 250;
const READERS_PER_KEY = 20;
const READERS = KEYS * READERS_PER_KEY;
/** Long enough for all readers to wait at once. */
const JOB_MS = 30_000;
const WAIT_SECONDS = 60;
const LIMIT_MB = 150;

interface Read {
  readonly status: string;
  readonly isApplied: boolean;
  readonly atMs: number;
}

/** Memory of a gateway in which five thousand readers of 250 keys wait for tasks, and when they hear of the end. */
export async function run(): Promise<BenchResult> {
  const songs = await startServer('song-jobs.ts');
  const gateway = await startBuiltGateway({
    TTAPI_API_KEY: 'bench',
    TTAPI_BASE_URL: serverUrl(songs, ''),
    RATE_LIMIT_RPM: '0',
    TASK_POLL_INTERVAL_MS: '1000',
    SANDBOX: 'off',
  });
  const agent = new Agent({ maxSockets: READERS });
  try {
    const keys = await fundedKeys(gateway.port, KEYS);
    const ids = await Promise.all(keys.map((key, order) => submitted(gateway, key, order)));
    const successMs = performance.now() + JOB_MS;
    const pid = gateway.process.pid ?? 0;
    const idleMb = await residentMb(pid);
    const reading = Promise.all(
      Array.from({ length: READERS }, (_, reader) =>
        read(gateway, keys[reader % KEYS] ?? '', ids[reader % KEYS] ?? '', agent),
      ),
    );
    const waiting = sleep(JOB_MS - 5_000).then(() => residentMb(pid));
    const [peakMb, reads, waitingMb] = await Promise.all([
      peakUntil(reading, pid),
      reading,
      waiting,
    ]);
    const final = reads.filter(({ status, isApplied }) => status === 'succeeded' && isApplied);
    const lateMs = reads.map(({ atMs }) => atMs - successMs);
    const growthMb = peakMb - idleMb;
    return {
      name: 'task-waits',
      figures: {
        'readers that wait at once': READERS,
        'answered with the final task': final.length,
        'last success to answer, p50 ms': round(percentile(lateMs, 0.5), 0),
        'last success to answer, p99 ms': round(percentile(lateMs, 0.99), 0),
        'memory growth while they wait MB': round(waitingMb - idleMb, 0),
        'memory growth at most MB': round(growthMb, 0),
      },
      targets: {
        'answered with the final task': String(READERS),
        'memory growth at most MB': `≤ ${LIMIT_MB}`,
      },
      passed: final.length === READERS && growthMb <= LIMIT_MB,
    };
  } finally {
    agent.destroy();
    await gateway.stop();
    await songs.stop();
  }
}

async function submitted({ port }: RunningServer, key: string, order: number): Promise<string> {
  const answer = await fetch(`http://127.0.0.1:${port}/v1/music/generations`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'song-music', prompt: `order ${order} lasts ${JOB_MS}` }),
  });
  if (answer.status !== 202) throw new Error(`${answer.status}: ${await answer.text()}`);
  return ((await answer.json()) as { id: string }).id;
}

function read({ port }: RunningServer, key: string, id: string, agent: Agent): Promise<Read> {
  const headers = { authorization: `Bearer ${key}`, prefer: `wait=${WAIT_SECONDS}` };
  const path = `/v1/tasks/${id}`;
  return new Promise((resolve, reject) => {
    get({ host: '127.0.0.1', port, path, headers, agent }, (answer) => {
      const chunks: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => chunks.push(chunk));
      answer.on('end', () => {
        const { status } = JSON.parse(Buffer.concat(chunks).toString()) as { status: string };
        const isApplied = answer.headers['preference-applied'] !== undefined;
        resolve({ status, isApplied, atMs: performance.now() });
      });
    }).once('error', reject);
  });
}
