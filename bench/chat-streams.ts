import { connect } from 'node:net';
import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { type BenchResult, percentile, round } from './result.js';
import {
  booksOf,
  fundedKeys,
  peakUntil,
  type RunningServer,
  startBuiltGateway,
  startServer,
} from './servers/start.js';

const WANTED_STREAMS = 10_000;
const KEYS = 100;
/** 10,000 streams make 5,000 chunks a second. */
const PACE_MS = 2_000;
const OPENING_MS = 20_000;
const TOKENS = 25;
const TOKENS_OF_DIRECT = 15;
const CUT = 2_000;
/** The first cut comes when all streams are open. */
const FIRST_CUT_TOKEN = 12;
/** `Go`, and the words around one message and its reply. */
const PROMPT_TOKENS = 1 + 3 + 3;
const CREDIT = 900_000_000_000_000n;
/** Descriptors of a gateway for other things than streams. */
const OTHER_DESCRIPTORS = 200;
const SETTLE_MS = 30_000;
const TARGETS = { memoryMb: 750, addedP99Ms: 25 };

/** Tokens that a stream was to make, and those that it made. */
interface Made {
  readonly tokens: number;
  readonly made: number;
}

/**
 * As many chat streams at once as one process may have descriptors for, at most 10,000, over 100 keys with the default
 * limits. 2,000 clients leave after a random token. Each chunk's way through the gateway is compared with the direct one.
 */
export async function run(): Promise<BenchResult> {
  const streams = Math.min(WANTED_STREAMS, Math.floor((await maxDescriptors()) / 2));
  const upstream = await startServer('paced-chat.ts', PACE_MS, PROMPT_TOKENS);
  const made: Made[] = [];
  const gateway = await startBuiltGateway({
    OPENAI_API_KEY: 'bench',
    OPENAI_BASE_URL: `http://127.0.0.1:${upstream.port}/v1`,
    SANDBOX: 'off',
  });
  try {
    const keys = await fundedKeys(gateway.port, KEYS);
    const direct = await read(upstream, streams, { keys, tokens: TOKENS_OF_DIRECT, cut: 0 });
    const before = await descriptorsOf(gateway);
    upstream.process.on('message', (message) => made.push(message as Made));
    const reading = read(gateway, streams, { keys, tokens: TOKENS, cut: CUT });
    const [peakMb, through] = await Promise.all([
      peakUntil(reading, gateway.process.pid ?? 0),
      reading,
    ]);
    const open = await openAfterwards(gateway, before);
    const books = await booksOf(gateway);
    const billed = BigInt(KEYS) * CREDIT - BigInt(books.posted_microusd);
    const owed = made
      .filter(({ tokens }) => tokens === TOKENS)
      .reduce((sum, stream) => sum + priceOf(stream.made), 0n);
    const added = (share: number) =>
      percentile(through.delays, share) - percentile(direct.delays, share);
    return {
      name: 'chat-streams',
      figures: {
        'streams at once': streams,
        'chunks per second': round(through.perSecond, 0),
        'added p50 ms per chunk': round(added(0.5)),
        'added p99 ms per chunk': round(added(0.99)),
        'direct p99 ms per chunk': round(percentile(direct.delays, 0.99)),
        'memory MB': round(peakMb, 0),
        'streams that ended whole': through.whole,
        'streams that were cut': through.cut,
        'billed minus made, micro-USD': String(billed - owed),
        'held afterwards, micro-USD': books.held_microusd,
        'descriptors open afterwards': open,
        'books exact': String(books.ok),
      },
      targets: {
        'streams at once': `${WANTED_STREAMS}, or half of the descriptors of a process`,
        'added p99 ms per chunk': `≤ ${TARGETS.addedP99Ms}`,
        'memory MB': `≤ ${TARGETS.memoryMb}`,
        'streams that were cut': String(CUT),
        'billed minus made, micro-USD': '0',
        'held afterwards, micro-USD': '0',
        'descriptors open afterwards': '0',
      },
      passed:
        added(0.99) <= TARGETS.addedP99Ms &&
        peakMb <= TARGETS.memoryMb &&
        through.cut === CUT &&
        through.whole + through.cut === streams &&
        billed === owed &&
        books.held_microusd === '0' &&
        open === 0 &&
        books.ok,
    };
  } finally {
    await gateway.stop();
    await upstream.stop();
  }
}

const priceOf = (tokens: number): bigint =>
  (BigInt(PROMPT_TOKENS) * 400_000n + BigInt(tokens) * 1_600_000n + 999_999n) / 1_000_000n;

/** Opens the streams one after the other and reads them all. Delays are those since the last one was opened. */
async function read(
  server: RunningServer,
  streams: number,
  plan: { readonly keys: readonly string[]; readonly tokens: number; readonly cut: number },
) {
  const { keys, tokens, cut } = plan;
  const startedAt = performance.now();
  const delays: number[] = [];
  let beforeFirstCut = 0;
  const onChunk = (delayMs: number): void => {
    const sinceOpenMs = performance.now() - startedAt - OPENING_MS;
    if (sinceOpenMs < 0) return;
    delays.push(delayMs);
    if (sinceOpenMs < PACE_MS) beforeFirstCut += 1;
  };
  const cutters = chosen(streams, cut);
  const opened = Array.from({ length: streams }, async (_, id) => {
    const dueMs = (id * OPENING_MS) / streams;
    await sleep(Math.max(0, dueMs - (performance.now() - startedAt)));
    const leaveAfter = cutters.has(id)
      ? FIRST_CUT_TOKEN + Math.floor(Math.random() * (tokens - FIRST_CUT_TOKEN))
      : Infinity;
    const key = keys[id % keys.length] ?? '';
    return stream(server.port, { key, user: `${id} ${tokens}`, leaveAfter, onChunk });
  });
  const ends = await Promise.all(opened);
  return {
    delays,
    perSecond: (beforeFirstCut * 1_000) / PACE_MS,
    whole: ends.filter((end) => end === 'whole').length,
    cut: ends.filter((end) => end === 'cut').length,
  };
}

function chosen(from: number, count: number): ReadonlySet<number> {
  const ids = new Set<number>();
  while (ids.size < count) ids.add(Math.floor(Math.random() * from));
  return ids;
}

/** Reads one stream. A client leaves right after a chunk, so that no further one is on its way. */
function stream(
  port: number,
  plan: {
    readonly key: string;
    readonly user: string;
    readonly leaveAfter: number;
    readonly onChunk: (delayMs: number) => void;
  },
): Promise<'whole' | 'cut'> {
  const body = JSON.stringify({
    model: 'gen-4-mini',
    stream: true,
    user: plan.user,
    messages: [{ role: 'user', content: 'Go' }],
  });
  const head = [
    'POST /v1/chat/completions HTTP/1.1',
    'Host: bench',
    `Authorization: Bearer ${plan.key}`,
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
  ];
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1').setNoDelay();
    let rest = '';
    let seen = 0;
    socket.write([...head, '', body].join('\r\n'));
    socket.on('error', (error) => {
      reject(new Error(`stream ${plan.user} failed after ${seen} chunks`, { cause: error }));
    });
    socket.on('close', () => {
      reject(new Error(`stream ${plan.user} ended early, after ${seen} chunks: ${rest}`));
    });
    const end = (how: 'whole' | 'cut'): void => {
      resolve(how);
      socket.destroy();
    };
    socket.on('data', (bytes: Buffer) => {
      const text = rest + bytes.toString('latin1');
      const now = performance.timeOrigin + performance.now();
      const complete = text.lastIndexOf('\n\n') + 2;
      for (const [, at] of text.slice(0, complete).matchAll(/"at":([\d.]+)/g)) {
        seen += 1;
        plan.onChunk(now - Number(at));
      }
      rest = text.slice(complete);
      if (text.includes('[DONE]')) end('whole');
      else if (seen >= plan.leaveAfter) end('cut');
    });
  });
}

/** Streams that one process has descriptors for need two each. */
async function maxDescriptors(): Promise<number> {
  const limits = await readFile('/proc/self/limits', 'utf8');
  const soft = Number(/Max open files\s+(\d+)/.exec(limits)?.[1] ?? 0);
  return soft - OTHER_DESCRIPTORS;
}

async function descriptorsOf({ process: { pid } }: RunningServer): Promise<number> {
  return (await readdir(`/proc/${pid ?? 0}/fd`)).length;
}

/** Descriptors above the number before, when no call holds money any more. Idle ones of keep-alive close by themselves. */
async function openAfterwards(gateway: RunningServer, before: number): Promise<number> {
  const startedAt = performance.now();
  for (;;) {
    const { held_microusd: held } = await booksOf(gateway);
    const open = Math.max(0, (await descriptorsOf(gateway)) - before);
    if ((held === '0' && open === 0) || performance.now() - startedAt > SETTLE_MS) return open;
    await sleep(200);
  }
}
