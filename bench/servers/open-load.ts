import { once } from 'node:events';
import { startServer } from './start.js';

/** One answer of an open load. Times are milliseconds since its start. */
export interface OpenAnswer {
  readonly status: number;
  readonly hasRetryAfter: boolean;
  /** When it was due to be sent. What the load sends late counts as time of the answer. */
  readonly dueMs: number;
  readonly tookMs: number;
}

/** What an open load sends, and how often. */
export interface OpenLoadPlan {
  readonly port: number;
  readonly path: string;
  readonly body: string;
  /** Used in turn. */
  readonly keys: readonly string[];
  readonly perSecond: number;
  readonly seconds: number;
}

/** What {@link openLoad} saw. */
export interface OpenLoad {
  readonly answers: readonly OpenAnswer[];
  /** The 99th percentile of how late requests were sent. */
  readonly lateP99Ms: number;
  /** CPU time of the process that sends, per second. */
  readonly cpu: number;
}

/** The answers by columns, as the process that sends them passes them on. */
export interface OpenAnswers {
  readonly failure?: string;
  readonly status: readonly number[];
  readonly hasRetryAfter: readonly boolean[];
  readonly dueMs: readonly number[];
  readonly tookMs: readonly number[];
  readonly lateP99Ms: number;
  readonly cpu: number;
}

/**
 * Sends requests at a fixed rate from a process of its own, whether or not the earlier ones were answered, and waits for all
 * answers.
 */
export async function openLoad(plan: OpenLoadPlan): Promise<OpenLoad> {
  const sender = await startServer('open-loader.ts');
  try {
    const told = once(sender.process, 'message');
    sender.process.send(plan);
    const ended = once(sender.process, 'exit').then(() => [{ failure: 'the load ended early' }]);
    const [columns] = (await Promise.race([told, ended])) as [OpenAnswers];
    if (columns.failure !== undefined) throw new Error(columns.failure);
    const { status, hasRetryAfter, dueMs, tookMs, lateP99Ms, cpu } = columns;
    const answers = status.map((code, index) => ({
      status: code,
      hasRetryAfter: hasRetryAfter[index] ?? false,
      dueMs: dueMs[index] ?? Number.NaN,
      tookMs: tookMs[index] ?? Number.NaN,
    }));
    return { answers, lateP99Ms, cpu };
  } finally {
    await sender.stop();
  }
}
