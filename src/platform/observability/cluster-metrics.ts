import cluster, { type Worker } from 'node:cluster';
import { AggregatorRegistry, type Registry } from 'prom-client';

const ANSWER_TIMEOUT_MS = 5_000;

interface AskMessage {
  readonly kind: 'ask-metrics';
  readonly id: number;
}
interface MetricsMessage {
  readonly kind: 'metrics';
  readonly id: number;
  readonly text: string;
}

let aggregator: AggregatorRegistry<'text/plain; version=0.0.4; charset=utf-8'> | undefined;
let nextId = 0;

/** In the primary process: when a worker is scraped, sends it the metrics of all workers. */
export function serveClusterMetrics(worker: Worker): void {
  const registry = (aggregator ??= new AggregatorRegistry());
  worker.on('message', (message: Partial<AskMessage>) => {
    const { kind, id } = message;
    if (kind !== 'ask-metrics' || id === undefined) return;
    void registry.clusterMetrics().then(
      (text) => {
        const reply: MetricsMessage = { kind: 'metrics', id, text };
        if (!worker.isDead()) worker.send(reply, () => undefined);
      },
      () => undefined,
    );
  });
}

/**
 * The metrics text of this process, or of all workers if this is one of them. If the primary does not respond, the
 * worker returns its own metrics.
 */
export async function metricsText(registry: Registry): Promise<string> {
  if (!cluster.isWorker || process.send === undefined) return registry.metrics();
  const request: AskMessage = { kind: 'ask-metrics', id: nextId++ };
  const replied = new Promise<string | undefined>((resolve) => {
    const finish = (text: string | undefined): void => {
      clearTimeout(timer);
      process.off('message', onMessage);
      resolve(text);
    };
    const onMessage = (message: Partial<MetricsMessage>): void => {
      if (message.kind === 'metrics' && message.id === request.id) finish(message.text);
    };
    const timer = setTimeout(finish, ANSWER_TIMEOUT_MS, undefined);
    process.on('message', onMessage);
  });
  process.send(request);
  return (await replied) ?? registry.metrics();
}

/** In a worker: lets the primary collect these metrics. */
export function shareMetrics(registry: Registry): void {
  if (!cluster.isWorker) return;
  AggregatorRegistry.setRegistries(registry);
  // A worker responds only after it has a registry of its own.
  aggregator ??= new AggregatorRegistry();
}
