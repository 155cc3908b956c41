import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { wavFile } from '../test/media/wav-file.js';
import { type BenchResult, median, round } from './result.js';
import {
  fundedKey,
  residentMb,
  type RunningServer,
  startAudioGateway,
  startServer,
} from './servers/start.js';

const FILE_BYTES = 52_428_800;
const WAV_HEAD_BYTES = 44;
const ROUNDS = 5;
const UPLOADS = 16;
const AT_ONCE = 4;
const CROWD = 32;
const SAMPLE_MS = 20;
const MB = 1_000_000;

/** Uploads of 50 MB for transcription against a bare proxy of multer and axios; then memory under 32 of them at once. */
export async function run(): Promise<BenchResult> {
  const upstream = await startServer('instant-transcription.ts');
  const proxy = await startServer('upload-proxy.ts', upstream.port);
  const gateway = await startAudioGateway(upstream, 0);
  try {
    const key = await fundedKey(gateway.port);
    const idleMb = await residentMb(gateway.process.pid ?? 0);
    const form = formOf(wavFile((FILE_BYTES - WAV_HEAD_BYTES) / 2, 48_000));
    const rates: [number[], number[]] = [[], []];
    for (let index = 0; index <= ROUNDS; index++) {
      const first = await rate(gateway, key, form);
      const second = await rate(proxy, key, form);
      // The first round is the warm-up.
      if (index > 0) {
        rates[0].push(first);
        rates[1].push(second);
      }
    }
    const [ours, theirs] = rates.map(median) as [number, number];
    const growthMb = (await peakUnderCrowd(gateway, key, form)) - idleMb;
    return {
      name: 'upload',
      figures: {
        'gateway MB/s': round(ours, 0),
        'multer + axios MB/s': round(theirs, 0),
        'gateway / multer + axios': round(ours / theirs),
        'memory growth MB, 32 uploads at once': round(growthMb, 0),
      },
      targets: {
        'gateway / multer + axios': '≥ 0.7',
        'memory growth MB, 32 uploads at once': '≤ 150',
      },
      passed: ours >= 0.7 * theirs && growthMb <= 150,
    };
  } finally {
    await gateway.stop();
    await Promise.all([proxy.stop(), upstream.stop()]);
  }
}

interface Form {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

function formOf(file: Buffer): Form {
  const boundary = 'bench-boundary';
  const head =
    `--${boundary}\r\nContent-Disposition: form-data; name="model"\r\n\r\naud-transcribe-v2\r\n` +
    `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="a.wav"\r\n\r\n`;
  const body = Buffer.concat([Buffer.from(head), file, Buffer.from(`\r\n--${boundary}--\r\n`)]);
  return { headers: { 'content-type': `multipart/form-data; boundary=${boundary}` }, body };
}

const agent = new Agent({ keepAlive: true });

function upload({ port }: RunningServer, key: string, { headers, body }: Form): Promise<void> {
  return new Promise((resolve, reject) => {
    const sending = request(
      {
        port,
        host: '127.0.0.1',
        method: 'POST',
        path: '/v1/audio/transcriptions',
        agent,
        headers: { ...headers, authorization: `Bearer ${key}`, 'content-length': body.length },
      },
      (answer) => {
        answer.resume();
        answer.once('end', () => {
          if (answer.statusCode === 200) resolve();
          else reject(new Error(`an upload was answered ${answer.statusCode}`));
        });
      },
    );
    sending.once('error', reject).end(body);
  });
}

/** Megabytes per second over a number of uploads, a few at a time. */
async function rate(server: RunningServer, key: string, form: Form): Promise<number> {
  const startedAt = performance.now();
  const sender = async (): Promise<void> => {
    for (let index = 0; index < UPLOADS / AT_ONCE; index++) await upload(server, key, form);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, sender));
  const seconds = (performance.now() - startedAt) / 1000;
  return (UPLOADS * form.body.length) / MB / seconds;
}

/** The most resident memory, in MB, while a crowd uploads at once. */
async function peakUnderCrowd(gateway: RunningServer, key: string, form: Form): Promise<number> {
  const pid = gateway.process.pid ?? 0;
  const samples: number[] = [];
  const done = Promise.all(Array.from({ length: CROWD }, () => upload(gateway, key, form)));
  const watch = new AbortController();
  const watching = (async () => {
    while (!watch.signal.aborted) {
      samples.push(await residentMb(pid));
      await sleep(SAMPLE_MS);
    }
  })();
  await done.finally(() => {
    watch.abort();
  });
  await watching;
  return Math.max(...samples);
}
