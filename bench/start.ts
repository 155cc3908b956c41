import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BenchResult, median, round } from './result.js';
import { startBuiltGateway } from './servers/start.js';

const LATER_STARTS = 3;

/** Time until ready: on an empty data directory, then on the same one again. */
export async function run(): Promise<BenchResult> {
  const folder = await mkdtemp(join(tmpdir(), 'shim-start-'));
  try {
    const times: number[] = [];
    for (let index = 0; index <= LATER_STARTS; index++) {
      const gateway = await startBuiltGateway({}, folder);
      times.push(gateway.readyMs / 1000);
      await gateway.stop();
    }
    const [first = Number.NaN, ...later] = times;
    const again = median(later);
    return {
      name: 'start',
      figures: { 'first start s': round(first), 'later start s': round(again) },
      targets: { 'first start s': '≤ 20', 'later start s': '≤ 6' },
      passed: first <= 20 && again <= 6,
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
