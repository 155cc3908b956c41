import { request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { type BenchResult, percentile, round } from './result.js';
import { BENCH_ADMIN_TOKEN, fundedKey, startBuiltGateway, startServer } from './servers/start.js';

const STREAMS = 2_000;
const AT_ONCE = 20;
/** The first streams run code that is not compiled yet, so they are billed but not timed. */
const WARM_UP = 200;
const LONGEST = 100;
const SETTLE_MS = 60_000;
const CREDIT = 900_000_000_000_000n;
/** `Go`, and the words around one message and its reply. */
const PROMPT_TOKENS = 1 + 3 + 3;

interface Cut {
  readonly id: number;
  readonly made: number;
  readonly at: number;
}

interface Audit {
  readonly ok: boolean;
  readonly held_microusd: string;
  readonly posted_microusd: string;
}

/**
 * Clients leave streams of a model without hidden reasoning at random tokens. Measures how soon the provider notices,
 * and whether what it made is what was billed.
 */
export async function run(): Promise<BenchResult> {
  const upstream = await startServer('cut-chat.ts');
  const gateway = await startBuiltGateway({
    OPENAI_API_KEY: 'bench',
    OPENAI_BASE_URL: `http://127.0.0.1:${upstream.port}/v1`,
    RATE_LIMIT_RPM: '10000000',
    SANDBOX: 'off',
  });
  const cuts: Cut[] = [];
  upstream.process.on('message', (cut) => cuts.push(cut as Cut));
  try {
    const key = await fundedKey(gateway.port);
    const base = `http://127.0.0.1:${gateway.port}`;
    const leftAt: number[] = [];
    let next = 0;
    const caller = async () => {
      while (next < STREAMS) {
        const id = next++;
        leftAt[id] = await leave(`${base}/v1/chat/completions`, key, id);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, caller));
    const audit = await settled(base);
    const billed = CREDIT - BigInt(audit.posted_microusd);
    const owed = cuts.map(({ made }) => priceOf(made)).reduce((sum, price) => sum + price, 0n);
    const noticed = cuts
      .filter(({ id }) => id >= WARM_UP)
      .map(({ id, at }) => at - (leftAt[id] ?? Number.NaN));
    const p99 = percentile(noticed, 0.99);
    return {
      name: 'chat-cut',
      figures: {
        'streams cut': cuts.length,
        'provider aborted p50 ms': round(percentile(noticed, 0.5)),
        'provider aborted p99 ms': round(p99),
        'billed minus made, micro-USD': String(billed - owed),
        'held afterwards, micro-USD': audit.held_microusd,
        'books exact': String(audit.ok),
      },
      targets: {
        'streams cut': String(STREAMS),
        'provider aborted p99 ms': '≤ 100',
        'billed minus made, micro-USD': '0',
        'held afterwards, micro-USD': '0',
      },
      passed:
        cuts.length === STREAMS &&
        p99 <= 100 &&
        billed === owed &&
        audit.held_microusd === '0' &&
        audit.ok,
    };
  } finally {
    await gateway.stop();
    await upstream.stop();
  }
}

const priceOf = (tokens: number): bigint =>
  (BigInt(PROMPT_TOKENS) * 400_000n + BigInt(tokens) * 1_600_000n + 999_999n) / 1_000_000n;

/** Leaves one stream after a random number of tokens; resolves with the time of leaving. */
function leave(url: string, key: string, id: number): Promise<number> {
  const tokens = 1 + Math.floor(Math.random() * LONGEST);
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const call = request(url, { method: 'POST', agent: false, headers });
    let seen = 0;
    call.on('error', reject);
    call.on('response', (answer) => {
      answer.setEncoding('utf8');
      answer.on('error', () => undefined);
      answer.on('data', (text: string) => {
        seen += text.split('" and"').length - 1;
        if (seen < tokens) return;
        call.destroy();
        resolve(performance.timeOrigin + performance.now());
      });
    });
    call.end(
      JSON.stringify({
        model: 'gen-4-mini',
        stream: true,
        user: `${id} ${tokens}`,
        messages: [{ role: 'user', content: 'Go' }],
      }),
    );
  });
}

/** The books when nothing is held any more, or when that takes too long. */
async function settled(base: string): Promise<Audit> {
  const startedAt = performance.now();
  for (;;) {
    const headers = { authorization: `Bearer ${BENCH_ADMIN_TOKEN}` };
    const audit = (await (await fetch(`${base}/admin/audit`, { headers })).json()) as Audit;
    if (audit.held_microusd === '0' || performance.now() - startedAt > SETTLE_MS) return audit;
    await sleep(50);
  }
}
