import { Agent, get, type IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { type BenchResult, round } from './result.js';
import {
  fundedKey,
  residentMb,
  type RunningServer,
  startBuiltGateway,
  startServer,
} from './servers/start.js';

const DOWNLOADS = 1_000;
const OPENED_AT_ONCE = 50;
const READING_MS = 10_000;
const SKIPPED_BYTES = 1_000;
const SAMPLE_MS = 50;
const MB = 1_000_000;
const LIMIT_MB = 200;

/** Memory of a gateway that sends the rest of a video of 32 MB to a thousand readers at once. */
export async function run(): Promise<BenchResult> {
  const upstream = await startServer('instant-video.ts');
  const gateway = await startBuiltGateway({
    VIDEO_API_KEY: 'bench',
    VIDEO_BASE_URL: `http://127.0.0.1:${upstream.port}/v1`,
    RATE_LIMIT_RPM: '0',
    TASK_POLL_INTERVAL_MS: '100',
    SANDBOX: 'off',
  });
  const agent = new Agent({ keepAlive: true, maxSockets: DOWNLOADS });
  try {
    const key = await fundedKey(gateway.port);
    const id = await videoOf(gateway, key);
    const pid = gateway.process.pid ?? 0;
    const idleMb = await residentMb(pid);
    const reading = readByCrowd(gateway, key, id, agent);
    const [peakMb, bytes] = await Promise.all([peakUntil(reading, pid), reading]);
    const growthMb = peakMb - idleMb;
    return {
      name: 'video-downloads',
      figures: {
        'downloads with Range open at once': DOWNLOADS,
        'MB/s read by all of them': round(bytes / MB / (READING_MS / 1000), 0),
        'memory growth MB': round(growthMb, 0),
        'memory in all MB': round(peakMb, 0),
      },
      targets: { 'memory growth MB': `≤ ${LIMIT_MB}` },
      passed: growthMb <= LIMIT_MB,
    };
  } finally {
    agent.destroy();
    await gateway.stop();
    await upstream.stop();
  }
}

/** Orders a video and waits until its file is kept. */
async function videoOf({ port }: RunningServer, key: string): Promise<string> {
  const url = `http://127.0.0.1:${port}/v1/videos`;
  const headers = { authorization: `Bearer ${key}` };
  const ordered = await fetch(url, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'vid-motion', prompt: 'bench', seconds: '5' }),
  });
  const { id } = (await ordered.json()) as { id: string };
  for (;;) {
    const answer = await fetch(`${url}/${id}`, { headers: { ...headers, prefer: 'wait=10' } });
    const { status } = (await answer.json()) as { status: string };
    if (status === 'completed') return id;
    if (status === 'failed') throw new Error('the video failed');
  }
}

/** Opens all downloads, a few at a time, then reads them all for a while; returns the bytes read. */
async function readByCrowd(
  gateway: RunningServer,
  key: string,
  id: string,
  agent: Agent,
): Promise<number> {
  const open: IncomingMessage[] = [];
  while (open.length < DOWNLOADS) {
    const group = Array.from({ length: OPENED_AT_ONCE }, () => begin(gateway, key, id, agent));
    open.push(...(await Promise.all(group)));
  }
  let bytes = 0;
  for (const answer of open) answer.on('data', (chunk: Buffer) => (bytes += chunk.length));
  await sleep(READING_MS);
  for (const answer of open) answer.destroy();
  return bytes;
}

/** The head of a download, whose body nobody reads yet. */
function begin(
  { port }: RunningServer,
  key: string,
  id: string,
  agent: Agent,
): Promise<IncomingMessage> {
  const headers = { authorization: `Bearer ${key}`, range: `bytes=${SKIPPED_BYTES}-` };
  const path = `/v1/videos/${id}/content`;
  return new Promise((resolve, reject) => {
    const onAnswer = (answer: IncomingMessage): void => {
      // Each is cut in the end.
      answer.on('error', () => undefined);
      if (answer.statusCode === 206) resolve(answer);
      else reject(new Error(`a download was answered ${answer.statusCode}`));
    };
    get({ host: '127.0.0.1', port, path, headers, agent }, onAnswer).once('error', reject);
  });
}

/** The most resident memory, in MB, until the work is over. */
async function peakUntil(work: Promise<unknown>, pid: number): Promise<number> {
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
