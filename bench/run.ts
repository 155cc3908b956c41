import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { buildWhenStale } from '../scripts/build-when-stale.js';
import type { BenchResult } from './result.js';
import { isInContainerNetwork, runInContainerNetwork } from './servers/container-network.js';
import { endOnSignals, endOwnProcesses, ownProcess } from './servers/owned-processes.js';
import { isShippedNode, PRESENT_NODE, shippedNode } from './servers/runtime.js';

/**
 * Runs the benchmarks named on the command line, or all of this folder, on the runtime of the image; prints a table and
 * writes `bench/results/<name>.json`. Exits with 1 when a target is missed. With BENCH_NODE=present they run on the
 * present Node, and nothing is written.
 */
endOnSignals();
// A fresh clone has no build, and an old one would be measured in the place of the sources.
const notBuilt = buildWhenStale();
if (notBuilt !== 0) process.exit(notBuilt);
const onPresent = process.env.BENCH_NODE === 'present';
if (!onPresent && !isShippedNode()) {
  const child = ownProcess(
    spawn(await shippedNode(), [...process.execArgv, ...process.argv.slice(1)], {
      stdio: 'inherit',
      env: { ...process.env, [PRESENT_NODE]: process.execPath },
    }),
  );
  const [code] = (await once(child, 'exit')) as [number | null];
  process.exit(code ?? 1);
}

/** What each file of this folder exports. */
interface Benchmark {
  readonly run: () => Promise<BenchResult>;
  /** It measures with the socket buffers that the gateway has in its container. */
  readonly needsContainerNetwork?: boolean;
}

const folder = new URL('./', import.meta.url);
const NOT_BENCHMARKS = ['run.ts', 'result.ts'];

const files = (await readdir(folder)).filter(
  (file) => file.endsWith('.ts') && !NOT_BENCHMARKS.includes(file),
);
const wanted = process.argv.slice(2);
const names = files
  .map((file) => file.slice(0, -3))
  .filter((name) => wanted.length === 0 || wanted.includes(name));

let passed = true;
await mkdir(new URL('results/', folder), { recursive: true });
for (const name of names) {
  const { run, needsContainerNetwork } = (await import(
    new URL(`${name}.ts`, folder).href
  )) as Benchmark;
  if (needsContainerNetwork && !isInContainerNetwork()) {
    const isMet = await runInContainerNetwork(name);
    passed &&= isMet;
    continue;
  }
  const result = await run().catch(async (error: unknown) => {
    // Else they would keep this process alive.
    await endOwnProcesses();
    throw error;
  });
  passed &&= result.passed;
  console.log(`\n${result.name}: ${result.passed ? 'targets met' : 'TARGET MISSED'}`);
  console.table(
    Object.entries(result.figures).map(([figure, value]) => ({
      figure,
      value,
      target: result.targets[figure] ?? '',
    })),
  );
  if (onPresent) continue;
  const record = {
    ...result,
    node: process.version,
    cores: availableParallelism(),
    at: new Date().toISOString(),
  };
  await writeFile(new URL(`results/${name}.json`, folder), `${JSON.stringify(record, null, 2)}\n`);
}
process.exitCode = passed ? 0 : 1;
