/** What work reads of the signal that ends it early; every `AbortSignal` is one. */
export interface StopSignal {
  readonly aborted: boolean;
  /** Why, once aborted. */
  readonly reason: unknown;
  throwIfAborted(): void;
  addEventListener(type: 'abort', listener: () => void, options?: { once?: boolean }): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}

/**
 * Signal and controller in one, for the calls of the hot path: an `AbortSignal` is an `EventTarget`, which costs as much
 * as half the upstream request and outlives its call until a full collection. Aborts with `parent`, if it has one.
 */
export class StopSource implements StopSignal {
  reason: unknown;
  private isAborted = false;
  private listeners: (() => void)[] = [];

  constructor(parent?: StopSignal) {
    if (parent?.aborted) this.abort(parent.reason);
    else
      parent?.addEventListener('abort', () => {
        this.abort(parent.reason);
      });
  }

  get aborted(): boolean {
    return this.isAborted;
  }

  /** Aborts, once; later reasons do not count. */
  abort(reason: unknown): void {
    if (this.isAborted) return;
    this.isAborted = true;
    this.reason = reason;
    for (const listener of this.listeners.splice(0)) listener();
  }

  throwIfAborted(): void {
    if (this.isAborted) throw this.reason;
  }

  /** Like that of an `AbortSignal`, a listener added too late is never called. */
  addEventListener(_type: 'abort', listener: () => void): void {
    if (!this.isAborted) this.listeners.push(listener);
  }

  removeEventListener(_type: 'abort', listener: () => void): void {
    const index = this.listeners.indexOf(listener);
    if (index >= 0) this.listeners.splice(index, 1);
  }
}
