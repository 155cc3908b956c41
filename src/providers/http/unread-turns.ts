import { performance } from 'node:perf_hooks';
import { AccountTurns } from '../../common/account-turns.js';

/** Answers without a reader that are read at full speed at a time while the process is busy. */
export const MAX_READ_ON = 16;
/** What an answer may give between two looks without a turn, in bytes. Whoever sends less is no load. */
export const FREE_BYTES = 64 * 1024;
/** How often it is looked at who uses a turn, in milliseconds. */
const LOOK_MS = 250;
/** A turn lasts this many looks (5 s) while others wait. */
const LOOKS_PER_TURN = 20;
/**
 * An answer is held for so many looks (10 s) in all, whatever the process does: a provider may cut a connection that nobody
 * reads, and what it has sent by then would be free.
 */
export const MAX_LOOKS_HELD = 40;
/** Above this share of its time in work, the event loop is busy. */
const BUSY = 0.6;

/** One answer without a reader. */
export interface LeftAnswer {
  /** Counts bytes that were read. The answer may be held meanwhile. */
  take(bytes: number): void;
  /** The answer has ended or broken. */
  end(): void;
}

interface Entry {
  readonly accountId: string;
  readonly hold: (isHeld: boolean) => void;
  /** Since the last look. */
  bytes: number;
  /** Since it got its turn. */
  looksInTurn: number;
  /** Since its reader left. */
  looksHeld: number;
}

/**
 * Reads answers whose readers have left, a bounded number at a time. They are paid for and read to their end (decisions
 * G-24, G-25), but when hundreds of readers are cut at once, nobody waits for those answers, and everybody else for the CPU.
 * An answer that sends slowly is never held and needs no turn, so a provider that stalls keeps none. One that sends fast is
 * held until it has a turn: accounts in turn, and within an account in the order in which they became fast. While the
 * process has time to spare, more get one at each look, so that no answer waits for providers of middling speed. Nobody is
 * held longer than {@link MAX_LOOKS_HELD}.
 */
export class UnreadTurns {
  /** Answers that are read, with or without a turn. */
  private readonly read = new Set<Entry>();
  private readonly inTurn = new Set<Entry>();
  private readonly held = new AccountTurns<Entry>();
  private timer: NodeJS.Timeout | undefined;
  private wake: NodeJS.Immediate | undefined;
  /** What {@link maxInTurn} is at least. */
  private minInTurn = MAX_READ_ON;
  private maxInTurn = MAX_READ_ON;

  /** @param isBusy whether the event loop was busy since the last call */
  constructor(private readonly isBusy: () => boolean = busyLoop()) {}

  /** From now on the answer of this account is read without a reader. `hold` stops the reading, or goes on with it. */
  begin(accountId: string, hold: (isHeld: boolean) => void): LeftAnswer {
    const entry: Entry = { accountId, hold, bytes: 0, looksInTurn: 0, looksHeld: 0 };
    this.read.add(entry);
    this.timer ??= this.startLooking();
    return {
      take: (bytes) => {
        this.take(entry, bytes);
      },
      end: () => {
        this.end(entry);
      },
    };
  }

  /** From now on nothing is held: the process is about to end, and an answer that it does not read is not paid for. */
  holdNone(): void {
    this.minInTurn = Infinity;
    this.maxInTurn = Infinity;
    this.next();
  }

  private startLooking(): NodeJS.Timeout {
    // What it did before does not count.
    this.isBusy();
    this.maxInTurn = this.minInTurn;
    return setInterval(() => {
      this.look();
    }, LOOK_MS).unref();
  }

  private take(entry: Entry, bytes: number): void {
    entry.bytes += bytes;
    if (entry.bytes <= FREE_BYTES || this.inTurn.has(entry) || !this.read.has(entry)) return;
    if (this.inTurn.size < this.maxInTurn || !mayBeHeld(entry)) this.giveTurn(entry);
    else this.enqueue(entry);
  }

  private look(): void {
    const areWaiting = !this.held.isEmpty;
    for (const entry of this.inTurn) {
      entry.looksInTurn += 1;
      if (entry.bytes <= FREE_BYTES) this.inTurn.delete(entry);
      else if (areWaiting && entry.looksInTurn >= LOOKS_PER_TURN && mayBeHeld(entry))
        this.enqueue(entry);
    }
    for (const entry of this.read) entry.bytes = 0;
    this.maxInTurn = this.minInTurn + (this.isBusy() ? 0 : this.inTurn.size);
    this.releaseOverdue();
    this.next();
  }

  private releaseOverdue(): void {
    for (const entry of this.held.items) {
      entry.looksHeld += 1;
      if (mayBeHeld(entry)) continue;
      this.held.remove(entry.accountId, entry);
      this.readOn(entry);
    }
  }

  private giveTurn(entry: Entry): void {
    entry.looksInTurn = 0;
    this.inTurn.add(entry);
  }

  private readOn(entry: Entry): void {
    entry.bytes = 0;
    this.read.add(entry);
    this.giveTurn(entry);
    entry.hold(false);
  }

  private enqueue(entry: Entry): void {
    this.inTurn.delete(entry);
    this.read.delete(entry);
    this.held.add(entry.accountId, entry);
    entry.hold(true);
  }

  private readonly next = (): void => {
    this.wake = undefined;
    while (this.inTurn.size < this.maxInTurn) {
      const entry = this.held.next();
      if (entry === undefined) return;
      this.readOn(entry);
    }
  };

  private end(entry: Entry): void {
    this.held.remove(entry.accountId, entry);
    this.read.delete(entry);
    // A parser of undici that is at work must not wake another, and an answer ends within its parser.
    if (this.inTurn.delete(entry) && !this.held.isEmpty) this.wake ??= setImmediate(this.next);
    if (this.read.size > 0 || !this.held.isEmpty) return;
    clearInterval(this.timer);
    this.timer = undefined;
  }
}

function mayBeHeld({ looksHeld }: Entry): boolean {
  return looksHeld < MAX_LOOKS_HELD;
}

function busyLoop(): () => boolean {
  let last = performance.eventLoopUtilization();
  return () => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, last);
    last = now;
    return utilization > BUSY;
  };
}
