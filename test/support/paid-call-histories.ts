import fc from 'fast-check';

/** What is held for the call. */
export const HOLD = 100n;

/** What may happen to a call: its client leaves, the process ends, its time passes. */
export type Event = 'leave' | 'shut-down' | 'time';

/** What an endpoint does with its call, and what happens to it meanwhile. */
export type Step =
  | { readonly kind: 'attempt'; readonly result: 'made' | 'refused' | 'fault' }
  /** The provider works until the call is aborted. */
  | { readonly kind: 'attempt-until'; readonly event: Event }
  | { readonly kind: 'rest'; readonly isWhole: boolean }
  | {
      readonly kind: 'settle';
      readonly charge: bigint | undefined;
      /** What happens until the settlement is durable. */
      readonly meanwhile: readonly Step[];
    }
  | { readonly kind: Event | 'first-byte' };

/** One history of a call. */
export interface CallHistory {
  readonly steps: readonly Step[];
  /** An endpoint with a fault goes on after an error. */
  readonly goesOn: boolean;
  readonly hasResponse: boolean;
  readonly ledger: 'works' | 'settles nothing' | 'releases nothing';
}

const event = fc.constantFrom<Event>('leave', 'shut-down', 'time');
const charge = fc.oneof(
  fc.constantFrom(undefined, HOLD, HOLD + 1n, -1n),
  fc.bigInt({ min: 0n, max: HOLD }),
);
const { step } = fc.letrec<{ step: Step }>((tie) => ({
  step: fc.oneof(
    { maxDepth: 1 },
    fc.record({ kind: event }),
    fc.record({ kind: fc.constant('first-byte') }),
    fc.record({
      kind: fc.constant('attempt'),
      result: fc.constantFrom('made', 'made', 'refused', 'fault'),
    }),
    fc.record({ kind: fc.constant('attempt-until'), event }),
    fc.record({ kind: fc.constant('rest'), isWhole: fc.boolean() }),
    fc.record({
      kind: fc.constant('settle'),
      charge,
      meanwhile: fc.array(tie('step'), { maxLength: 4 }),
    }),
  ),
}));
/** Any history. */
export const callHistories: fc.Arbitrary<CallHistory> = fc.record({
  steps: fc.array(step, { maxLength: 8 }),
  goesOn: fc.boolean(),
  hasResponse: fc.boolean(),
  ledger: fc.constantFrom('works', 'works', 'settles nothing', 'releases nothing'),
});

/** How a call ended: charged, or failed with this code in its record. */
export type End = { readonly charge: bigint } | { readonly code: string };

/** Says how a call with this history has to end. */
export class Oracle {
  end: End | undefined;
  private abort: string | undefined;
  private isMade = false;
  private hasBegun = false;
  private timesPassed = 0;

  constructor(private readonly history: CallHistory) {
    for (const each of history.steps) if (!this.take(each) && !history.goesOn) break;
    this.release('internal_error');
  }

  /** False when the step throws. */
  private take(each: Step): boolean {
    switch (each.kind) {
      case 'attempt':
        return this.attempt(each.result);
      case 'attempt-until':
        return this.attemptUntil(each.event);
      case 'rest':
        return each.isWhole || this.release('provider_unavailable');
      case 'settle':
        return this.settle(each.charge ?? HOLD);
      case 'first-byte':
        this.hasBegun = true;
        return true;
      case 'leave':
      case 'shut-down':
      case 'time':
        this.pass(each.kind);
        return true;
    }
  }

  private attempt(result: 'made' | 'refused' | 'fault'): boolean {
    if (this.end) return false;
    if (result === 'fault') return this.release('internal_error');
    if (result === 'refused') return this.release('provider_unavailable');
    this.isMade = true;
    return true;
  }

  private attemptUntil(what: Event): false {
    if (this.end) return false;
    this.pass(what);
    while (!this.abort) this.pass('time');
    return this.release('');
  }

  private settle(charged: bigint): boolean {
    if (this.end || !this.isMade) return false;
    if (charged < 0n || charged > HOLD) return this.release('internal_error');
    this.end = { charge: charged };
    return true;
  }

  private release(code: string): false {
    this.end ??= { code: this.abort ?? code };
    return false;
  }

  private pass(what: Event): void {
    if (this.end) return;
    if (what === 'leave') this.abort ??= 'client_left';
    else if (what === 'shut-down') this.abort ??= 'shutdown';
    else this.passTime();
  }

  /** First comes the deadline, then the end of the time for one that is sending, then the end of a forgotten call. */
  private passTime(): void {
    const isSending = this.timesPassed === 0 && this.history.hasResponse && this.hasBegun;
    if (this.timesPassed === 2) this.release('provider_timeout');
    else if (!isSending) this.abort ??= 'provider_timeout';
    this.timesPassed = isSending ? 1 : 2;
  }
}
