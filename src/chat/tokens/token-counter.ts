import { Worker } from 'node:worker_threads';
import { Injectable, type BeforeApplicationShutdown } from '@nestjs/common';
import { GatewayError } from '../../common/errors/gateway-error.js';
import type { CountAnswer, CountRequest } from './token-counter.thread.js';

/** `src` and `dist` are siblings: this names the built worker from either, as threads cannot run TypeScript. */
const WORKER_FILE = new URL('../../../dist/chat/tokens/token-counter.thread.js', import.meta.url);
/** Texts waiting to be counted; each is bounded by the size of a request or an answer. */
const MAX_WAITING = 1_000;

interface Waiting {
  readonly resolve: (tokens: number) => void;
  readonly reject: (error: Error) => void;
}

/**
 * Counts tokens for calls whose provider reports no usage (decision G-23). The tokenizer takes 150 ms and 90 MB to load,
 * so it lives in a thread of its own, started by the first count.
 */
@Injectable()
export class TokenCounter implements BeforeApplicationShutdown {
  private worker: Worker | undefined;
  private readonly waiting = new Map<number, Waiting>();
  private lastId = 0;

  /** Tokens of all texts together. Throws 503 `service_unavailable` when too many counts wait or the thread dies. */
  count(texts: readonly string[]): Promise<number> {
    if (this.waiting.size >= MAX_WAITING) return Promise.reject(overloaded());
    const worker = (this.worker ??= this.start());
    const id = ++this.lastId;
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve, reject });
      worker.ref();
      worker.postMessage({ id, texts } satisfies CountRequest);
    });
  }

  /** Ends the thread. */
  async beforeApplicationShutdown(): Promise<void> {
    await this.worker?.terminate();
  }

  private start(): Worker {
    const worker = new Worker(WORKER_FILE, { execArgv: [] });
    worker.on('message', ({ id, tokens }: CountAnswer) => {
      this.waiting.get(id)?.resolve(tokens);
      this.waiting.delete(id);
      // An idle thread does not keep the process alive.
      if (this.waiting.size === 0) worker.unref();
    });
    // The exit that follows rejects what waits.
    worker.on('error', () => undefined);
    worker.on('exit', () => {
      this.worker = undefined;
      for (const { reject } of this.waiting.values()) reject(overloaded());
      this.waiting.clear();
    });
    return worker;
  }
}

function overloaded(): GatewayError {
  return new GatewayError('service_unavailable', 'The tokens of this call cannot be counted.', {
    retryAfterSeconds: 1,
  });
}
