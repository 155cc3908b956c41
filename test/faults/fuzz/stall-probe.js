import { appendFileSync, readFileSync } from 'node:fs';
import { PerformanceObserver } from 'node:perf_hooks';
import { setInterval, setTimeout } from 'node:timers';
import { isMainThread, Worker, workerData } from 'node:worker_threads';

/**
 * Loaded into a gateway with `--import stall-probe.js?file=…`. For each stall of the event loop it writes a line with its
 * length, the CPU time of the main thread in it, how long that thread was ready while others had the CPU, how late a thread
 * that does nothing was meanwhile, and the time of garbage collections, all in ms. Only Linux tells the CPU time and the
 * wait.
 */
const EVERY_MS = 10;
const WORTH_TELLING_MS = 50;
/** Collections are reported after they ended. */
const REPORTED_WITHIN_MS = 100;
const REMEMBERED_COLLECTIONS = 100;
const USUAL_LATENESS_MS = 5;
const NANOSECONDS_PER_MS = 1_000_000;

const { performance } = globalThis;
const file = new URL(import.meta.url).searchParams.get('file');
if (isMainThread && file !== null) watch(file);
else if (workerData?.idle) noteLateness(new Float64Array(workerData.idle));

function watch(file) {
  const idle = new SharedArrayBuffer(Float64Array.BYTES_PER_ELEMENT);
  const thread = new Worker(new URL(import.meta.url), {
    workerData: { idle },
    execArgv: [],
    env: {},
  });
  thread.on('error', () => undefined);
  thread.unref();
  const idleLateMs = new Float64Array(idle);
  let collections = [];
  new PerformanceObserver((list) => {
    collections = [...collections, ...list.getEntries()].slice(-REMEMBERED_COLLECTIONS);
  }).observe({ entryTypes: ['gc'] });
  let before = { ...now(), idleMs: 0 };
  setInterval(() => {
    const from = before;
    const to = { ...now(), idleMs: idleLateMs[0] };
    before = to;
    const stallMs = to.atMs - from.atMs - EVERY_MS;
    if (stallMs < WORTH_TELLING_MS) return;
    setTimeout(() => {
      const within = collections.filter(
        ({ startTime }) => startTime >= from.atMs && startTime < to.atMs,
      );
      const gcMs = within.reduce((sum, { duration }) => sum + duration, 0);
      const [cpuMs, waitMs] = [to.cpuMs - from.cpuMs, to.waitMs - from.waitMs];
      const idleMs = idleLateMs[0] - from.idleMs;
      const line = { atMs: to.atMs, stallMs, cpuMs, waitMs, idleMs, gcMs };
      appendFileSync(file, `${JSON.stringify(line)}\n`);
    }, REPORTED_WITHIN_MS).unref();
  }, EVERY_MS).unref();
}

/** Adds up how late its timer is. */
function noteLateness(lateMs) {
  let before = performance.now();
  setInterval(() => {
    const at = performance.now();
    lateMs[0] += Math.max(0, at - before - EVERY_MS - USUAL_LATENESS_MS);
    before = at;
  }, EVERY_MS);
}

/** The time, and the times of the main thread since its start. */
function now() {
  const [cpu = 0, wait = 0] = schedule();
  const [cpuMs, waitMs] = [cpu / NANOSECONDS_PER_MS, wait / NANOSECONDS_PER_MS];
  return { atMs: performance.now(), cpuMs, waitMs };
}

function schedule() {
  try {
    return readFileSync('/proc/thread-self/schedstat', 'utf8').split(' ').map(Number);
  } catch {
    return [];
  }
}
