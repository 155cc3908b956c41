/**
 * A signal that aborts after `timeoutMs` or together with `outer`, whichever comes first. `clear()` frees the timer and
 * the listener, so that a long-lived `outer` does not keep finished work in memory.
 */
export class Deadline {
  private readonly controller = new AbortController();
  private readonly timer: NodeJS.Timeout;
  private readonly follow = (): void => {
    this.controller.abort(this.outer?.reason);
  };

  constructor(
    timeoutMs: number,
    private readonly outer?: AbortSignal,
  ) {
    this.timer = setTimeout(() => {
      this.controller.abort(new DOMException('deadline passed', 'TimeoutError'));
    }, timeoutMs);
    if (outer?.aborted) this.follow();
    else outer?.addEventListener('abort', this.follow, { once: true });
  }

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  clear(): void {
    clearTimeout(this.timer);
    this.outer?.removeEventListener('abort', this.follow);
  }
}
