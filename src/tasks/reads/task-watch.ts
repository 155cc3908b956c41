import type { TaskStatus } from '../task.js';

/** What a watch compares. */
export interface WatchedState {
  readonly status: TaskStatus;
  readonly progress: number | null;
}

/**
 * The watch of one client on one task. Changes that come while the client is busy with an earlier one are one change, so nothing waits
 * in memory for a slow client.
 */
export class TaskWatch {
  readonly taskId: string;
  readonly accountId: string;
  private seen: WatchedState;
  private hasChanged = false;
  private isClosed = false;
  private waiting: (() => void) | undefined;

  constructor(
    task: { readonly id: string; readonly accountId: string } & WatchedState,
    private readonly onClose: () => void,
  ) {
    this.taskId = task.id;
    this.accountId = task.accountId;
    this.seen = task;
  }

  /** The client knows this state now. */
  knows(state: WatchedState): void {
    this.seen = state;
  }

  /** Resolves with true at the next change, or if there was one since the last call; with false once the watch is closed. */
  async change(): Promise<boolean> {
    if (!this.hasChanged && !this.isClosed) {
      await new Promise<void>((resolve) => {
        this.waiting = resolve;
      });
    }
    this.hasChanged = false;
    return !this.isClosed;
  }

  /** The task may have changed. */
  wake(): void {
    this.hasChanged = true;
    this.waiting?.();
  }

  /** {@link wake} if the state is another than the client knows. */
  compare(state: WatchedState | undefined): void {
    if (state === undefined) return;
    const { status, progress } = this.seen;
    if (state.status !== status || state.progress !== progress) this.wake();
  }

  /** Ends the watch. May be repeated. */
  close(): void {
    this.isClosed = true;
    this.onClose();
    this.waiting?.();
  }
}
