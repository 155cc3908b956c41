import { once } from 'node:events';
import { type BenchResult, percentile, round } from './result.js';
import { callTimes } from './servers/other-caller.js';
import { fundedKey, startAudioGateway, startServer } from './servers/start.js';

const GUESSES_PER_SECOND = 1_880;
const SECONDS = 20;
const WARM_UP_SECONDS = 5;
const MAX_P50_MS = 12;
const BODY = JSON.stringify({ model: 'aud-v4', input: 'Hello', voice: 'Adam' });

/** How guesses of keys delay the calls of a key that exists. */
export async function run(): Promise<BenchResult> {
  const upstream = await startServer('instant-upstream.ts');
  const gateway = await startAudioGateway(upstream, 0);
  try {
    const authorization = `Bearer ${await fundedKey(gateway.port)}`;
    const speak = () =>
      fetch(`http://127.0.0.1:${gateway.port}/v1/audio/speech`, {
        method: 'POST',
        headers: { authorization, 'content-type': 'application/json' },
        body: BODY,
      });
    await callTimes(WARM_UP_SECONDS, speak);
    const alone = await callTimes(SECONDS, speak);
    const guesser = await startServer('guesser.ts', gateway.port, GUESSES_PER_SECOND);
    await callTimes(WARM_UP_SECONDS, speak);
    const attacked = await callTimes(SECONDS, speak);
    const told = once(guesser.process, 'message');
    guesser.process.kill('SIGTERM');
    const [answered] = (await told) as [number];
    await guesser.stop();
    const p50Ms = percentile(attacked, 0.5);
    return {
      name: `${GUESSES_PER_SECOND} guesses of keys per second`,
      figures: {
        'alone: p50, ms': round(percentile(alone, 0.5)),
        'alone: p99, ms': round(percentile(alone, 0.99)),
        'beside guesses: p50, ms': round(p50Ms),
        'beside guesses: p99, ms': round(percentile(attacked, 0.99)),
        'guesses answered per second': round(answered / (WARM_UP_SECONDS + SECONDS), 0),
      },
      targets: { 'beside guesses: p50, ms': `at most ${MAX_P50_MS}` },
      passed: p50Ms <= MAX_P50_MS,
    };
  } finally {
    await gateway.stop();
    await upstream.stop();
  }
}
