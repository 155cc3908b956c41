import { setTimeout as sleep } from 'node:timers/promises';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { Logger } from 'pino';
import type { OperatorSocket } from '../commands/operator-socket.js';
import type { FastExpressAdapter } from '../platform/http-server/connections/fast-express.adapter.js';
import type { InFlight } from '../platform/http-server/connections/in-flight.js';
import { PaidCalls } from '../billing/calls/paid-calls.js';
import { LOGGER } from '../platform/observability/logger.js';
import { Readiness } from '../platform/observability/readiness.js';
import { Tracing } from '../platform/observability/tracing.js';
import { LongPoll } from '../tasks/reads/long-poll.js';
import { JobsAtProvider } from '../tasks/worker/jobs-at-provider.js';
import { TaskWorker } from '../tasks/worker/task-worker.js';
import { Scheduler } from '../platform/scheduler/scheduler.js';

/** Interval of the checks whether something still runs. */
const POLL_MS = 20;
/** Interval of the log lines about what still runs. */
const REPORT_MS = 10_000;
/** After the drain timeout, aborted calls get this long to release their holds. */
const ABORT_GRACE_MS = 3_000;

/** What is drained besides the application. */
interface Draining {
  readonly adapter: FastExpressAdapter;
  readonly inFlight: InFlight;
  readonly operators: OperatorSocket | undefined;
  /** How long calls are still taken after readiness has turned 503; a part of `timeoutMs`. */
  readonly noticeMs: number;
  readonly timeoutMs: number;
}

/**
 * Reports not ready, and still takes calls for `noticeMs`, so that a load balancer sees it first. Then it refuses calls and
 * lets running calls, tasks and operator commands finish. `timeoutMs` after the beginning the calls are aborted and release
 * their holds. Then everything is closed, the listener last: health, metrics and operators are served until then. Traces that wait are sent. Every
 * 10 s the log says how many calls still run.
 */
export async function shutDownGracefully(
  app: NestExpressApplication,
  { adapter, inFlight, operators, ...limits }: Draining,
): Promise<void> {
  const logger = app.get<Logger>(LOGGER);
  logger.info({ in_flight: inFlight.count }, 'draining');
  const noticeMs = Math.min(limits.noticeMs, limits.timeoutMs);
  const timeoutMs = limits.timeoutMs - noticeMs;
  app.get(Readiness).drain();
  inFlight.announce();
  adapter.closeAfterResponses();
  await sleep(noticeMs);
  inFlight.drain();
  adapter.closeIdleConnections();
  app.get(LongPoll).close();
  const idle = Promise.all([app.get(TaskWorker).drain(timeoutMs), app.get(Scheduler).stop()]);
  const [paidCalls, tracing] = [app.get(PaidCalls), app.get(Tracing)];
  // A paid call continues when its client disconnects.
  const busy = (): boolean => inFlight.count + paidCalls.inFlight + (operators?.running ?? 0) > 0;
  const report = setInterval(() => {
    const running = { in_flight: inFlight.count, paid_calls: paidCalls.inFlight };
    if (busy()) logger.info(running, 'still draining');
  }, REPORT_MS);
  await whileBusy(busy, timeoutMs);
  paidCalls.abortAll();
  await whileBusy(busy, ABORT_GRACE_MS);
  clearInterval(report);
  operators?.close();
  adapter.cutConnections();
  await idle;
  await app.get(JobsAtProvider).drain();
  await app.close();
  await tracing.close();
}

async function whileBusy(busy: () => boolean, timeoutMs: number): Promise<void> {
  // By the clock, not by counting pauses: on a busy machine a pause lasts longer, and the process has to end in time.
  const giveUpAt = performance.now() + timeoutMs;
  while (busy() && performance.now() < giveUpAt) await sleep(POLL_MS);
}
