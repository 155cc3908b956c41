import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { type BenchResult, median, round } from './result.js';
import { startBuiltGateway } from './servers/start.js';

const LATER_STARTS = 3;

const TARGET_SECONDS = { first: 20, later: 1.8 };

/** Time from `npm start` on a built tree until ready: on an empty data directory, then on the same one again. */
export async function run(): Promise<BenchResult> {
  const folder = await mkdtemp(join(tmpdir(), 'shim-start-'));
  try {
    const times: number[] = [];
    await (await npmStart()).stop();
    for (let index = 0; index <= LATER_STARTS; index++) {
      const gateway = await npmStart(folder);
      times.push(gateway.readyMs / 1000);
      await gateway.stop();
    }
    const [first = Number.NaN, ...later] = times;
    const again = median(later);
    return {
      name: 'start',
      figures: { 'first start s': round(first), 'later start s': round(again) },
      targets: {
        'first start s': `≤ ${TARGET_SECONDS.first}`,
        'later start s': `≤ ${TARGET_SECONDS.later}`,
      },
      passed: first <= TARGET_SECONDS.first && again <= TARGET_SECONDS.later,
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The first one may build. */
function npmStart(dataDir?: string) {
  // npm starts the `node` that it finds.
  const path = [dirname(process.execPath), process.env.PATH ?? ''].join(delimiter);
  return startBuiltGateway({ PATH: path }, dataDir, 'npm', ['start']);
}
