import { readdir, readFile, writeFile } from 'node:fs/promises';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { fatalLinesOf } from '../../support/fatal-lines.js';
import { cleanUp, startGatewayProgram, temporaryFolder } from '../../support/process.js';
import { until } from '../../support/until.js';
import { type FuzzReport, fuzzRun, fuzzWorld, GRAMMARS } from './fuzz-run.js';
import { GatewayWatch, probeOption } from './gateway-watch.js';

/**
 * `--count` damaged requests from `--seed` on against a built gateway in a process of its own; the verdict goes to
 * bench/results/fuzz.json, or is added to what it says (`--more`). `--grammar forms` sends forms by the grammar of multipart
 * bodies instead (fuzz-forms.json). The inputs of seed 1 and count 20,000 are those of seed 1
 * and seed 10,001 with 10,000 each.
 */
const { values } = parseArgs({
  options: {
    count: { type: 'string', default: '2000' },
    seed: { type: 'string', default: '1' },
    clients: { type: 'string', default: '16' },
    grammar: { type: 'string', default: 'all' },
    more: { type: 'boolean' },
  },
});
/** What a run may cost beyond having no violation. */
const MAX_RSS_GROWTH_MB = 150;
const MAX_STALL_MS = 250;
/**
 * Growth is counted from here: the first forms start the threads that measure, and V8 gives its young generation the full
 * size once.
 */
const WARM_UP_INPUTS = 1_000;
const grammar = grammarOf(values.grammar);
const RESULT = fileURLToPath(
  new URL(
    `../../../bench/results/${grammar === 'all' ? 'fuzz' : `fuzz-${grammar}`}.json`,
    import.meta.url,
  ),
);
const ADMIN_TOKEN = 'admin-token-for-fuzzing-0123456789';
const METRICS_TOKEN = 'metrics-token-for-fuzzing-0123456789';
const CREDIT = 1_000_000_000_000n;

interface Verdict extends FuzzReport {
  readonly worstStallMs: number;
  /** Without the time in which other threads or programs had the CPU. */
  readonly worstOwnStallMs: number;
  readonly ownStallsOverLimit: number;
  /** After the warm-up. */
  readonly rssGrowthMb: number;
  readonly rssGrowthFromStartMb: number;
  readonly machineLoad: number;
  readonly filesLeft: number;
  /** Lines of level fatal in the log. */
  readonly fatalLines: number;
  readonly audit: boolean;
}

const dataDir = await temporaryFolder();
const stallFile = join(await temporaryFolder(), 'stalls');
try {
  const gateway = await startGatewayProgram({
    DATA_DIR: dataDir,
    ADMIN_TOKEN,
    METRICS_TOKEN,
    SANDBOX: 'on',
    LOG_LEVEL: 'error',
    NODE_OPTIONS: probeOption(stallFile),
    TRUST_PROXY: '127.0.0.0/8',
    TASK_POLL_INTERVAL_MS: '1000',
  });
  const keys = await Promise.all(
    [CREDIT, CREDIT, CREDIT, 0n].map(async (credit) => (await gateway.account(credit)).key),
  );
  const world = await fuzzWorld(gateway.url, keys[0] ?? '', ADMIN_TOKEN);
  const watch = await GatewayWatch.start({ url: gateway.url, token: METRICS_TOKEN, stallFile });
  const report = await fuzzRun({
    url: gateway.url,
    world,
    keys,
    count: Number(values.count),
    seed: Number(values.seed),
    grammar,
    clients: Number(values.clients),
    onJudged: (inputs) => {
      if (inputs === WARM_UP_INPUTS) watch.warmedUp();
    },
  });
  const figures = await watch.stop(MAX_STALL_MS);
  const uploads = join(dataDir, 'uploads', String(gateway.pid));
  const filesLeft = async (): Promise<number> => (await readdir(uploads)).length;
  await until(async () => (await filesLeft()) === 0).catch(() => undefined);
  const { ok } = (await gateway.admin('GET', '/audit')).json as { ok: boolean };
  const fatal = fatalLinesOf(gateway.stdout());
  const now: Verdict = {
    ...report,
    ...figures,
    machineLoad: Math.round((loadavg()[0] ?? 0) * 10) / 10,
    filesLeft: await filesLeft(),
    fatalLines: fatal.length,
    audit: ok,
  };
  const isAlive = gateway.child.exitCode === null;
  process.stderr.write(gateway.stdout().slice(-5_000));
  for (const stall of watch.longest(5)) process.stderr.write(`${JSON.stringify(stall)}\n`);
  const verdict = values.more
    ? sumOf(JSON.parse(await readFile(RESULT, 'utf8')) as Verdict, now)
    : now;
  const text = `${JSON.stringify(verdict, null, 2)}\n`;
  await writeFile(RESULT, text);
  process.stdout.write(text);
  const isCheap = now.rssGrowthMb <= MAX_RSS_GROWTH_MB && now.worstOwnStallMs <= MAX_STALL_MS;
  const isClean =
    now.violations.length + now.filesLeft + now.fatalLines === 0 && now.audit && isAlive;
  process.exitCode = isClean && isCheap ? 0 : 1;
} finally {
  await cleanUp();
}

function grammarOf(name: string): keyof typeof GRAMMARS {
  const known = Object.keys(GRAMMARS) as (keyof typeof GRAMMARS)[];
  const grammar = known.find((one) => one === name);
  if (!grammar) throw new Error(`--grammar is one of ${known.join(', ')}`);
  return grammar;
}

function sumOf(before: Verdict, now: Verdict): Verdict {
  const statuses: Record<string, number> = { ...before.statuses };
  for (const [status, count] of Object.entries(now.statuses))
    statuses[status] = (statuses[status] ?? 0) + count;
  return {
    seed: Math.min(before.seed, now.seed),
    inputs: before.inputs + now.inputs,
    statuses,
    violations: [...before.violations, ...now.violations],
    worstStallMs: Math.max(before.worstStallMs, now.worstStallMs),
    worstOwnStallMs: Math.max(before.worstOwnStallMs, now.worstOwnStallMs),
    ownStallsOverLimit: before.ownStallsOverLimit + now.ownStallsOverLimit,
    rssGrowthMb: Math.max(before.rssGrowthMb, now.rssGrowthMb),
    rssGrowthFromStartMb: Math.max(before.rssGrowthFromStartMb, now.rssGrowthFromStartMb),
    machineLoad: Math.max(before.machineLoad, now.machineLoad),
    filesLeft: before.filesLeft + now.filesLeft,
    // Older results do not have it.
    fatalLines: ((before.fatalLines as number | undefined) ?? 0) + now.fatalLines,
    audit: before.audit && now.audit,
  };
}
