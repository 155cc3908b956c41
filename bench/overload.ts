import { type BenchResult, percentile, round } from './result.js';
import { load, serverUrl } from './servers/load.js';
import { type OpenAnswer, openLoad } from './servers/open-load.js';
import {
  booksOf,
  fundedKeys,
  type RunningServer,
  startAudioGateway,
  startServer,
} from './servers/start.js';

const KEYS = 100;
const PATH = '/v1/audio/speech';
const BODY = JSON.stringify({ model: 'aud-v4', input: 'Hello from the benchmark.', voice: 'Adam' });
const CALL_MICRO_USD = 25n * 120n;
const CREDIT = 900_000_000_000_000n;
const CONNECTIONS = 64;
const WARM_UP_SECONDS = 8;
const PEAK_SECONDS = 8;
const HALF_SECONDS = 10;
const OVERLOAD_SECONDS = 25;
/** Seconds of the overload that are not counted, until calls are refused. */
const ONSET_SECONDS = 3;
const RECOVERY_SECONDS = 10;
const FACTOR = 3;
const TARGETS = { goodput: 0.8, p99: 3, recoverySeconds: 5 };

/**
 * Three times as many speech calls as the gateway can do: how many it still does and how soon, how it refuses the
 * others, and how soon it is as before.
 */
export async function run(): Promise<BenchResult> {
  const upstream = await startServer('instant-upstream.ts');
  const gateway = await startAudioGateway(upstream, 0);
  try {
    const keys = await fundedKeys(gateway.port, KEYS);
    const headers = { 'content-type': 'application/json' };
    const target = { url: serverUrl(gateway, PATH), headers, keys };
    const warm = await load(target, BODY, CONNECTIONS, WARM_UP_SECONDS);
    const peak = await load(target, BODY, CONNECTIONS, PEAK_SECONDS);
    const at = (perSecond: number, seconds: number) =>
      openLoad({ port: gateway.port, path: PATH, body: BODY, keys, perSecond, seconds });
    const { answers: half } = await at(peak.perSecond / 2, HALF_SECONDS);
    const { answers: over, lateP99Ms, cpu } = await at(peak.perSecond * FACTOR, OVERLOAD_SECONDS);
    const { answers: after } = await at(peak.perSecond / 2, RECOVERY_SECONDS);
    const steady = over.filter(({ dueMs }) => dueMs >= ONSET_SECONDS * 1_000);
    const goodput = accepted(steady).length / (OVERLOAD_SECONDS - ONSET_SECONDS) / peak.perSecond;
    const halfP99 = p99Of(half);
    const slower = p99Of(steady) / halfP99;
    const refusals = over.filter(({ status }) => status !== 200);
    const proper = refusals.filter(
      ({ status, hasRetryAfter }) => (status === 429 || status === 503) && hasRetryAfter,
    );
    const recovery = recoverySeconds(after, TARGETS.p99 * halfP99);
    const answers = [...half, ...over, ...after];
    const calls = warm.requests + peak.requests + accepted(answers).length;
    const exact = await booksAreExact(gateway, calls);
    return {
      name: 'overload',
      figures: {
        'peak req/s': round(peak.perSecond, 0),
        'sent req/s': round(peak.perSecond * FACTOR, 0),
        'goodput / peak': round(goodput),
        'p99 ms at half of the peak': round(halfP99, 1),
        'p99 ms of the accepted': round(p99Of(steady), 1),
        'p99 of the accepted / at half of the peak': round(slower),
        'p50 ms of the accepted': round(percentile(timesOf(accepted(steady)), 0.5), 1),
        'p99 ms that the load is late': round(lateP99Ms, 1),
        'cores that the load takes': round(cpu),
        refused: refusals.length,
        'refused with 429 or 503 and Retry-After': proper.length,
        'p50 ms of a refusal': round(percentile(timesOf(refusals), 0.5), 1),
        'recovery s': recovery,
        'refused at half of the peak': half.length - accepted(half).length,
        'books exact': String(exact),
      },
      targets: {
        'goodput / peak': `≥ ${TARGETS.goodput}`,
        'p99 of the accepted / at half of the peak': `≤ ${TARGETS.p99}`,
        'refused with 429 or 503 and Retry-After': 'all',
        'recovery s': `≤ ${TARGETS.recoverySeconds}`,
        'refused at half of the peak': '0',
      },
      passed:
        goodput >= TARGETS.goodput &&
        slower <= TARGETS.p99 &&
        proper.length === refusals.length &&
        recovery <= TARGETS.recoverySeconds &&
        accepted(half).length === half.length &&
        exact,
    };
  } finally {
    await gateway.stop();
    await upstream.stop();
  }
}

const accepted = (answers: readonly OpenAnswer[]): readonly OpenAnswer[] =>
  answers.filter(({ status }) => status === 200);
const timesOf = (answers: readonly OpenAnswer[]): readonly number[] =>
  answers.map(({ tookMs }) => tookMs);
const p99Of = (answers: readonly OpenAnswer[]): number =>
  percentile(timesOf(accepted(answers)), 0.99);

/** The first second after which no call is refused and whose p99 is small enough again. */
function recoverySeconds(answers: readonly OpenAnswer[], p99Ms: number): number {
  for (let second = RECOVERY_SECONDS - 1; second >= 0; second -= 1) {
    const ofSecond = answers.filter(({ dueMs }) => Math.floor(dueMs / 1_000) === second);
    if (accepted(ofSecond).length < ofSecond.length || p99Of(ofSecond) > p99Ms) return second + 1;
  }
  return 0;
}

/** Autocannon ends with calls under way, one for each connection, and does not count them. */
async function booksAreExact(gateway: RunningServer, calls: number): Promise<boolean> {
  const { ok, held_microusd: held, posted_microusd: posted } = await booksOf(gateway);
  const spent = BigInt(KEYS) * CREDIT - BigInt(posted);
  const more = spent / CALL_MICRO_USD - BigInt(calls);
  return ok && held === '0' && spent % CALL_MICRO_USD === 0n && more >= 0n && more <= 2n * 64n;
}
