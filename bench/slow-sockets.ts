import { readdir } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { type SlowKind, SlowSockets } from '../test/faults/slow-sockets.js';
import { type BenchResult, percentile, round } from './result.js';
import { ReaderWatch } from './servers/reader-watch.js';
import {
  fundedKey,
  fundedKeys,
  residentMb,
  startBuiltGateway,
  startServer,
} from './servers/start.js';

const COUNT = 500;
/** An account has 20 uploads at once. */
const ACCOUNTS = 25;
const OTHERS_EVERY_MS = 50;
const OTHERS_P99_MS = 80;
const SETTLED_MS = 3_000;
const MAX_GROWTH_MB = 300;
/** A reader that takes nothing for 30 s is cut; this is looked at every 5 s, and here every second. */
const STILL_SECONDS = 40;
/**
 * The longest that the last byte-by-byte sender or reader of each kind may live, s. Readers of long answers live longer than
 * they stand still: what the kernel takes for a reader is progress. It takes little while the memory of all sockets of the
 * machine is used up, and more when the first ones are cut, up to 32 MB each.
 */
const LIMIT_SECONDS: Readonly<Record<SlowKind, number>> = {
  headers: 15,
  body: 70,
  upload: 130,
  audio: 150,
  sse: 150,
  any: 150,
  answered: 90,
};
const SENDERS: readonly SlowKind[] = ['headers', 'body', 'upload'];
const READERS: readonly SlowKind[] = ['audio', 'sse', 'any'];
const BODY = JSON.stringify({ model: 'aud-v4', input: 'Hello', voice: 'Adam' });

/** With larger buffers the sockets of this provider, which shares the machine, use up the kernel's memory for all sockets. */
export const needsContainerNetwork = true;

/** How 500 slow sockets of each kind delay other callers, and what they leave behind. */
export async function run(): Promise<BenchResult> {
  // In a process of its own, so that its work does not count as the gateway's.
  const provider = await startServer('long-answers.ts');
  const providerUrl = `http://127.0.0.1:${provider.port}`;
  const gateway = await startBuiltGateway({
    SANDBOX: 'off',
    ELEVENLABS_API_KEY: 'bench',
    ELEVENLABS_BASE_URL: providerUrl,
    OPENAI_API_KEY: 'bench',
    OPENAI_BASE_URL: providerUrl,
    RATE_LIMIT_RPM: '0',
    LOG_LEVEL: 'error',
  });
  try {
    const { port } = gateway;
    const pid = gateway.process.pid ?? 0;
    const target = { port, keys: await fundedKeys(port, ACCOUNTS) };
    const others = new Others(port, await fundedKey(port));
    await others.warmUp();
    const before = { files: await openFiles(pid), mb: await residentMb(pid) };
    others.start();
    const figures: Record<string, number> = {};
    const attack = async (kind: SlowKind): Promise<void> => {
      const sockets = await SlowSockets.open(kind, COUNT, target);
      const readers = READERS.includes(kind) ? new ReaderWatch(port, sockets) : undefined;
      const endedMs = await sockets
        .ended(LIMIT_SECONDS[kind] * 1_000)
        .finally(() => readers?.stop());
      figures[`${kind}: the last is gone after, s`] = round(endedMs / 1_000, 1);
      if (readers) figures[stillFigure(kind)] = round(readers.longestStillMs / 1_000, 1);
    };
    let peakMb = 0;
    const watch = setInterval(() => {
      residentMb(pid).then(
        (mb) => (peakMb = Math.max(peakMb, mb)),
        () => undefined,
      );
    }, 200);
    const oneByOne = async (): Promise<void> => {
      for (const kind of READERS) await attack(kind);
      await attack('answered');
    };
    // When one kind lives too long, its error is told, not that of a caller whose gateway has ended.
    const attacked = await Promise.allSettled([...SENDERS.map(attack), oneByOne()]);
    clearInterval(watch);
    const times = await others.stop();
    for (const outcome of attacked) {
      if (outcome.status === 'rejected') throw outcome.reason;
    }
    await sleep(SETTLED_MS);
    const p99Ms = percentile(times, 0.99);
    const filesLeft = (await openFiles(pid)) - before.files;
    const growthMb = peakMb - before.mb;
    const areCut = READERS.every((kind) => (figures[stillFigure(kind)] ?? 0) <= STILL_SECONDS);
    return {
      name: `Slow sockets, ${COUNT} of each kind`,
      figures: {
        ...figures,
        'calls of others': times.length,
        'others p50, ms': round(percentile(times, 0.5)),
        'others p99, ms': round(p99Ms),
        'others worst, ms': round(Math.max(...times)),
        'memory growth at the peak, MB': round(growthMb, 0),
        'descriptors left': filesLeft,
      },
      targets: {
        ...Object.fromEntries(
          READERS.map((kind) => [stillFigure(kind), `at most ${STILL_SECONDS}`]),
        ),
        'others p99, ms': `at most ${OTHERS_P99_MS}`,
        'memory growth at the peak, MB': `at most ${MAX_GROWTH_MB}`,
        'descriptors left': 'at most 5',
      },
      passed: areCut && p99Ms <= OTHERS_P99_MS && filesLeft <= 5 && growthMb <= MAX_GROWTH_MB,
    };
  } finally {
    await gateway.stop();
    await provider.stop();
  }
}

const stillFigure = (kind: SlowKind): string => `${kind}: the longest without progress, s`;

/** A caller that makes a short call from time to time. */
class Others {
  private readonly times: number[] = [];
  private readonly calls: Promise<void>[] = [];
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly port: number,
    private readonly key: string,
  ) {}

  async warmUp(): Promise<void> {
    for (let call = 0; call < 100; call += 1) await this.call();
    this.times.length = 0;
  }

  start(): void {
    this.timer = setInterval(() => {
      const call = this.call();
      // Told by `stop`, so that the servers are stopped before the benchmark ends with it.
      call.catch(() => undefined);
      this.calls.push(call);
    }, OTHERS_EVERY_MS);
  }

  /** How long each call took, ms. Throws the error of the first that failed. */
  async stop(): Promise<readonly number[]> {
    clearInterval(this.timer);
    await Promise.all(this.calls);
    return this.times;
  }

  private async call(): Promise<void> {
    const startedMs = performance.now();
    const answer = await fetch(`http://127.0.0.1:${this.port}/v1/audio/speech`, {
      method: 'POST',
      headers: { authorization: `Bearer ${this.key}`, 'content-type': 'application/json' },
      body: BODY,
    });
    if (!answer.ok) throw new Error(`a call of others: ${answer.status} ${await answer.text()}`);
    await answer.arrayBuffer();
    this.times.push(performance.now() - startedMs);
  }
}

async function openFiles(pid: number): Promise<number> {
  return (await readdir(`/proc/${pid}/fd`)).length;
}
