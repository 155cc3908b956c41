/** What is told of an abort: a function, or an object, which costs no closure. */
export type StopListener = (() => void) | { handleEvent(): void };

/** What work needs of the signal that ends it early. Every `AbortSignal` has it. */
export interface StopSignal {
  readonly aborted: boolean;
  /** The reason, after it was aborted. */
  readonly reason: unknown;
  throwIfAborted(): void;
  addEventListener(type: 'abort', listener: StopListener, options?: { once?: boolean }): void;
  removeEventListener(type: 'abort', listener: StopListener): void;
}

/**
 * Signal and controller in one, for the calls of the hot path. An `AbortSignal` is an `EventTarget`, which costs half
 * as much as the upstream request and stays in memory until a full garbage collection. It aborts together with
 * `parent`, if there is one.
 */
export class StopSource implements StopSignal {
  reason: unknown;
  private isAborted = false;
  private listeners: StopListener[] = [];

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

  /** Aborts, once. Later reasons are ignored. */
  abort(reason: unknown): void {
    if (this.isAborted) return;
    this.isAborted = true;
    this.reason = reason;
    for (const listener of this.listeners.splice(0)) {
      if (typeof listener === 'function') listener();
      else listener.handleEvent();
    }
  }

  throwIfAborted(): void {
    if (this.isAborted) throw this.reason;
  }

  /** As with an `AbortSignal`, a listener that is added too late is never called. */
  addEventListener(_type: 'abort', listener: StopListener): void {
    // `push` would make room for 17, and most signals have one listener.
    if (!this.isAborted) this.listeners = this.listeners.concat(listener);
  }

  removeEventListener(_type: 'abort', listener: StopListener): void {
    const index = this.listeners.indexOf(listener);
    if (index >= 0) this.listeners.splice(index, 1);
  }
}
