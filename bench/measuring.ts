import { once } from 'node:events';
import { wavFile } from '../test/media/wav-file.js';
import { type BenchResult, percentile, round } from './result.js';
import { formWithFile } from './servers/long-files.js';
import { callTimes } from './servers/other-caller.js';
import { fundedKeys, startAudioGateway, startServer } from './servers/start.js';

const UPLOADS_AT_ONCE = 12;
const SECONDS = 40;
const WARM_UP_SECONDS = 5;
const MAX_P99_MS = 500;

/** How 12 uploads of 50 MB that take long to measure, again and again, delay a short transcription of another account. */
export async function run(): Promise<BenchResult> {
  const upstream = await startServer('instant-transcription.ts');
  const gateway = await startAudioGateway(upstream, 0);
  try {
    const [own = '', other = ''] = await fundedKeys(gateway.port, 2);
    const { contentType, body } = formWithFile('aud-transcribe-v2', wavFile(16_000));
    const transcribe = () =>
      fetch(`http://127.0.0.1:${gateway.port}/v1/audio/transcriptions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${own}`, 'content-type': contentType },
        body: new Uint8Array(body),
      });
    await callTimes(WARM_UP_SECONDS, transcribe);
    const alone = await callTimes(WARM_UP_SECONDS, transcribe);
    const uploader = await startServer('uploader.ts', gateway.port, other, UPLOADS_AT_ONCE);
    await callTimes(WARM_UP_SECONDS, transcribe);
    const attacked = await callTimes(SECONDS, transcribe);
    const told = once(uploader.process, 'message');
    uploader.process.kill('SIGTERM');
    const [answered] = (await told) as [number];
    await uploader.stop();
    const p99Ms = percentile(attacked, 0.99);
    return {
      name: `${UPLOADS_AT_ONCE} uploads of 50 MB at once beside short transcriptions`,
      figures: {
        'alone: p50, ms': round(percentile(alone, 0.5)),
        'alone: p99, ms': round(percentile(alone, 0.99)),
        'beside uploads: p50, ms': round(percentile(attacked, 0.5)),
        'beside uploads: p99, ms': round(p99Ms),
        'beside uploads: worst, ms': round(Math.max(...attacked)),
        'uploads answered': answered,
      },
      targets: { 'beside uploads: p99, ms': `at most ${MAX_P99_MS}` },
      passed: p99Ms <= MAX_P99_MS,
    };
  } finally {
    await gateway.stop();
    await upstream.stop();
  }
}
