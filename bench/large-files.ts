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

const FILE_BYTES = 2 * 1024 ** 3;
/** So that what a first call loads is not counted. */
const WARM_UP_BYTES = 1024 ** 2;
const LIMIT_MB = 64;

interface Growth {
  readonly inMb: number;
  readonly outMb: number;
}

/** Memory of a gateway that fetches a video of 2 GB and sends it, with a local directory and with S3 for its files. */
export async function run(): Promise<BenchResult> {
  const local = await growthWith({});
  const s3 = await startServer('s3.ts');
  const remote = await growthWith({
    STORAGE_URL: 's3://media/bench',
    S3_ENDPOINT: `http://127.0.0.1:${s3.port}`,
    AWS_ACCESS_KEY_ID: 'bench',
    AWS_SECRET_ACCESS_KEY: 'bench',
  }).finally(() => s3.stop());
  const figures = {
    'bytes of the file': FILE_BYTES,
    'local directory, in: growth MB': round(local.inMb, 0),
    'local directory, out: growth MB': round(local.outMb, 0),
    'S3, in: growth MB': round(remote.inMb, 0),
    'S3, out: growth MB': round(remote.outMb, 0),
  };
  const growths = Object.keys(figures).filter((name) => name.endsWith('growth MB'));
  return {
    name: 'large-files',
    figures,
    targets: Object.fromEntries(growths.map((name) => [name, `≤ ${LIMIT_MB}`])),
    passed: [local, remote].every(({ inMb, outMb }) => Math.max(inMb, outMb) <= LIMIT_MB),
  };
}

async function growthWith(settings: Record<string, string>): Promise<Growth> {
  const upstream = await startServer('instant-video.ts');
  const gateway = await startBuiltGateway({
    VIDEO_API_KEY: 'bench',
    VIDEO_BASE_URL: `http://127.0.0.1:${upstream.port}/v1`,
    RATE_LIMIT_RPM: '0',
    TASK_POLL_INTERVAL_MS: '100',
    SANDBOX: 'off',
    ...settings,
  });
  try {
    const key = await fundedKey(gateway.port);
    const pid = gateway.process.pid ?? 0;
    const grows = async (work: Promise<unknown>): Promise<number> => {
      const idleMb = await residentMb(pid);
      const [peakMb] = await Promise.all([peakUntil(work, pid), work]);
      return peakMb - idleMb;
    };
    await download(gateway, key, await orderedVideo(gateway, key, `${WARM_UP_BYTES} bytes`));
    const ordering = orderedVideo(gateway, key, `${FILE_BYTES} bytes`);
    const inMb = await grows(ordering);
    const outMb = await grows(download(gateway, key, await ordering));
    return { inMb, outMb };
  } finally {
    await gateway.stop();
    await upstream.stop();
  }
}

async function download({ port }: RunningServer, key: string, id: string): Promise<void> {
  const url = `http://127.0.0.1:${port}/v1/videos/${id}/content`;
  const answer = await fetch(url, { headers: { authorization: `Bearer ${key}` } });
  let bytes = 0;
  for await (const chunk of answer.body ?? []) bytes += (chunk as Uint8Array).length;
  if (String(bytes) !== answer.headers.get('content-length'))
    throw new Error(`${bytes} bytes came`);
}
