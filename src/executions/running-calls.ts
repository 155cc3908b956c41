/** A call between hold and end; its signal aborts when the gateway gives it up. */
class RunningCall extends AbortController {
  constructor(public position: number) {
    super();
  }
}

/**
 * The synchronous calls under way. An array, because a `Set` that is added to and deleted from all the time leaves its
 * outgrown tables linked to each other: once one is old, all that follow keep what they held until a full collection.
 */
export class RunningCalls {
  private readonly calls: RunningCall[] = [];

  get count(): number {
    return this.calls.length;
  }

  /** A new call, to be removed when it ends. */
  add(): RunningCall {
    const call = new RunningCall(this.calls.length);
    this.calls.push(call);
    return call;
  }

  /** Forgets a call; the last one takes its place. */
  remove(call: RunningCall): void {
    const last = this.calls.pop();
    if (last === undefined || last === call) return;
    last.position = call.position;
    this.calls[call.position] = last;
  }

  /** Aborts every call with this reason. */
  abort(reason: Error): void {
    for (const call of [...this.calls]) call.abort(reason);
  }
}
