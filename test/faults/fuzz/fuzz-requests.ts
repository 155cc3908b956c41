import { readdir, readFile, writeFile } from 'node:fs/promises';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { fatalLinesOf } from '../../support/fatal-lines.js';
import { countOption, type OnEnd, runOptions, refuseRun } from '../../support/long-run.js';
import {
  type GatewayProgram,
  startGatewayProgram,
  temporaryFolder,
} from '../../support/process.js';
import { until } from '../../support/until.js';
import { type FuzzPlan, type FuzzReport, fuzzRun, fuzzWorld, GRAMMARS } from './fuzz-run.js';
import { GatewayWatch, probeOption } from './gateway-watch.js';

/**
 * `--count` damaged requests from `--seed` on against a built gateway in a process of its own; the verdict goes to
 * bench/results/fuzz.json, or is added to what it says (`--more`). `--grammar forms` sends forms by the grammar of multipart
 * bodies instead (fuzz-forms.json). The inputs of seed 1 and count 20,000 are those of seed 1
 * and seed 10,001 with 10,000 each.
 */
const values = runOptions({
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
const COUNT = countOption('--count', values.count);
const SEED = countOption('--seed', values.seed, 0);
const CLIENTS = countOption('--clients', values.clients);
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

/** Sends the inputs, prints what came of them, and says whether no answer was wrong and the run was cheap. */
export async function fuzzRequests(onEnd: OnEnd): Promise<boolean> {
  const dataDir = await temporaryFolder();
  const stallFile = join(await temporaryFolder(), 'stalls');
  const starting = startGatewayProgram({
    DATA_DIR: dataDir,
    ADMIN_TOKEN,
    METRICS_TOKEN,
    SANDBOX: 'on',
    LOG_LEVEL: 'error',
    NODE_OPTIONS: probeOption(stallFile),
    TRUST_PROXY: '127.0.0.0/8',
    TASK_POLL_INTERVAL_MS: '1000',
  });
  // A run that is ended while the gateway starts ends it as well.
  onEnd(async () => (await starting).end('SIGKILL'));
  const gateway = await starting;
  const world = await worldAt(gateway);
  const watch = await GatewayWatch.start({ url: gateway.url, token: METRICS_TOKEN, stallFile });
  const report = await fuzzRun({
    ...world,
    count: COUNT,
    seed: SEED,
    grammar,
    clients: CLIENTS,
    onJudged: (inputs) => {
      if (inputs === WARM_UP_INPUTS) watch.warmedUp();
    },
  });
  const figures = await watch.stop(MAX_STALL_MS);
  const uploads = join(dataDir, 'uploads', String(gateway.pid));
  const filesLeft = async (): Promise<number> => (await readdir(uploads)).length;
  await until(async () => (await filesLeft()) === 0).catch(() => undefined);
  const { ok } = (await gateway.admin('GET', '/audit')).json as { ok: boolean };
  const now: Verdict = {
    ...report,
    ...figures,
    machineLoad: Math.round((loadavg()[0] ?? 0) * 10) / 10,
    filesLeft: await filesLeft(),
    fatalLines: fatalLinesOf(gateway.stdout()).length,
    audit: ok,
  };
  const isAlive = gateway.child.exitCode === null && gateway.child.signalCode === null;
  process.stderr.write(gateway.stdout().slice(-5_000));
  for (const stall of watch.longest(5)) process.stderr.write(`${JSON.stringify(stall)}\n`);
  await tell(now);
  const isCheap = now.rssGrowthMb <= MAX_RSS_GROWTH_MB && now.worstOwnStallMs <= MAX_STALL_MS;
  const faults = now.violations.length + now.filesLeft + now.fatalLines;
  return faults === 0 && now.inputs === COUNT && now.audit && isAlive && isCheap;
}

/** What requests are about, and the keys that they come with; one has no credit. */
async function worldAt(gateway: GatewayProgram): Promise<Pick<FuzzPlan, 'url' | 'world' | 'keys'>> {
  const keys = await Promise.all(
    [CREDIT, CREDIT, CREDIT, 0n].map(async (credit) => (await gateway.account(credit)).key),
  );
  const { url } = gateway;
  return { url, keys, world: await fuzzWorld(url, keys[0] ?? '', ADMIN_TOKEN) };
}

/** Writes the verdict into the file, with `--more` added to what it says, and prints it. */
async function tell(now: Verdict): Promise<void> {
  const verdict = values.more
    ? sumOf(JSON.parse(await readFile(RESULT, 'utf8')) as Verdict, now)
    : now;
  const text = `${JSON.stringify(verdict, null, 2)}\n`;
  await writeFile(RESULT, text);
  process.stdout.write(text);
}

function grammarOf(name: string): keyof typeof GRAMMARS {
  const known = Object.keys(GRAMMARS) as (keyof typeof GRAMMARS)[];
  const grammar = known.find((one) => one === name);
  return grammar ?? refuseRun(`--grammar is one of ${known.join(', ')}.`);
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
