import { Agent, get, type IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { type BenchResult, round } from './result.js';
import {
  fundedKey,
  orderedVideo,
  peakUntil,
  residentMb,
  type RunningServer,
  startBuiltGateway,
  startServer,
} from './servers/start.js';

const DOWNLOADS = 1_000;
/** Times that so many come at the same instant. */
const CROWDS = 5;
const READING_MS = 8_000;
/** So that one crowd has gone before the next comes. */
const PAUSE_MS = 3_000;
const SKIPPED_BYTES = 1_000;
const MB = 1_000_000;
const LIMIT_MB = 200;

/** Memory of a gateway that sends the rest of a video of 32 MB to a thousand readers who all ask at once, and whom it refuses. */
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
    const id = await orderedVideo(gateway, key, 'bench');
    const pid = gateway.process.pid ?? 0;
    const idleMb = await residentMb(pid);
    const reading = readByCrowds(gateway, key, id, agent);
    const [peakMb, { bytes, refused }] = await Promise.all([peakUntil(reading, pid), reading]);
    const growthMb = peakMb - idleMb;
    return {
      name: 'video-downloads',
      figures: {
        'downloads with Range asked for at once': DOWNLOADS,
        'times that was done': CROWDS,
        'downloads refused': refused,
        'MB/s read by all of them': round(bytes / MB / ((CROWDS * READING_MS) / 1000), 0),
        'memory growth MB': round(growthMb, 0),
        'memory in all MB': round(peakMb, 0),
      },
      targets: { 'downloads refused': 'none', 'memory growth MB': `≤ ${LIMIT_MB}` },
      passed: refused === 0 && growthMb <= LIMIT_MB,
    };
  } finally {
    agent.destroy();
    await gateway.stop();
    await upstream.stop();
  }
}

interface Downloaded {
  readonly bytes: number;
  readonly refused: number;
}

/** One crowd after the other; returns what all of them read. */
async function readByCrowds(
  gateway: RunningServer,
  key: string,
  id: string,
  agent: Agent,
): Promise<Downloaded> {
  const sum = { bytes: 0, refused: 0 };
  for (let crowd = 0; crowd < CROWDS; crowd += 1) {
    const { bytes, refused } = await readByCrowd(gateway, key, id, agent);
    sum.bytes += bytes;
    sum.refused += refused;
    await sleep(PAUSE_MS);
  }
  return sum;
}

/** Asks for all downloads at once and reads them for a while. */
async function readByCrowd(
  gateway: RunningServer,
  key: string,
  id: string,
  agent: Agent,
): Promise<Downloaded> {
  const begun = Array.from({ length: DOWNLOADS }, () => begin(gateway, key, id, agent));
  const answers = await Promise.all(begun);
  const open = answers.filter(({ statusCode }) => statusCode === 206);
  let bytes = 0;
  for (const answer of open) answer.on('data', (chunk: Buffer) => (bytes += chunk.length));
  await sleep(READING_MS);
  for (const answer of answers) answer.destroy();
  return { bytes, refused: answers.length - open.length };
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
      // All connections are cut in the end.
      answer.on('error', () => undefined);
      resolve(answer);
    };
    get({ host: '127.0.0.1', port, path, headers, agent }, onAnswer).once('error', reject);
  });
}
