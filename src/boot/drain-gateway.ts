import { setTimeout as sleep } from 'node:timers/promises';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { OperatorSocket } from '../commands/operator-socket.js';
import type { FastExpressAdapter } from '../common/http/connections/fast-express.adapter.js';
import type { InFlight } from '../common/http/connections/in-flight.js';
import { PayOnSuccess } from '../executions/pay-on-success.js';
import { Readiness } from '../observability/readiness.js';
import { ProviderRegistry } from '../providers/routing/provider-registry.js';
import { TaskWaits } from '../tasks/reads/task-waits.js';
import { TaskWorker } from '../tasks/worker/task-worker.js';
import { Ticker } from '../ticker/ticker.js';

/** How often the drain looks whether something still runs. */
const POLL_MS = 20;
/** After the drain timeout, aborted calls get this long to release their holds. */
const ABORT_GRACE_MS = 3_000;

/** What of a gateway is drained, beside its application. */
interface Draining {
  readonly adapter: FastExpressAdapter;
  readonly inFlight: InFlight;
  readonly operators: OperatorSocket | undefined;
  readonly timeoutMs: number;
}

/**
 * Reports not ready, refuses new requests, and lets running calls, tasks and operator commands finish. After `timeoutMs` the
 * calls are aborted and release their holds. Then everything is closed.
 */
export async function drainGateway(
  app: NestExpressApplication,
  { adapter, inFlight, operators, timeoutMs }: Draining,
): Promise<void> {
  app.get(Readiness).drain();
  inFlight.drain();
  app.get(ProviderRegistry).drain();
  operators?.stop();
  app.get(TaskWaits).close();
  const idle = Promise.all([app.get(TaskWorker).drain(timeoutMs), app.get(Ticker).stop()]);
  const payOnSuccess = app.get(PayOnSuccess);
  // A paid call goes on when its client's connection closes.
  const busy = (): boolean =>
    inFlight.count + payOnSuccess.inFlight + (operators?.running ?? 0) > 0;
  await whileBusy(busy, timeoutMs);
  payOnSuccess.abortAll();
  await whileBusy(busy, ABORT_GRACE_MS);
  operators?.close();
  adapter.cutConnections();
  await idle;
  await app.close();
}

async function whileBusy(busy: () => boolean, timeoutMs: number): Promise<void> {
  for (let waitedMs = 0; busy() && waitedMs < timeoutMs; waitedMs += POLL_MS) {
    await sleep(POLL_MS);
  }
}
