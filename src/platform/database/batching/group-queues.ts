/** A call that waits for its result, and the promise of its caller. */
export interface Waiting<Call, Result> {
  readonly call: Call;
  readonly group: string;
  readonly isUrgent: boolean;
  /** No statement with the call begins later, by the batcher's clock. */
  readonly deadlineMs: number;
  /** Whether a statement with the call failed and may have been committed all the same. */
  mayBeCommitted: boolean;
  /** Number of statements that skipped the call because its group was locked. */
  timesSkipped: number;
  /** The last error of a statement with the call. */
  error: unknown;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

interface Group<Call, Result> {
  urgent: Waiting<Call, Result>[];
  others: Waiting<Call, Result>[];
  /** Whether its calls wait for a statement of their own and not for the next shared one. */
  isApart: boolean;
  /** Whether the group was locked when its calls were last taken. */
  isLocked: boolean;
}

type AnyGroup = Readonly<Record<'urgent' | 'others', readonly unknown[]>> &
  Pick<Group<unknown, unknown>, 'isApart' | 'isLocked'>;

/** Counts of queued calls that are not urgent, without those of locked groups. */
export type ReadyCalls = Pick<
  GroupQueues<unknown, unknown>,
  'readyCalls' | 'readyGroups' | 'readyCallsOf'
>;

/** Queued calls by group. Groups get equal shares of a batch. Within a group, urgent calls come first, then the order is that of arrival. */
export class GroupQueues<Call, Result> {
  /** In the order in which the next batch takes from them. */
  private readonly groups = new Map<string, Group<Call, Result>>();
  private all = 0;
  private notUrgent = 0;
  private ready = 0;
  private readyIn = 0;

  get isEmpty(): boolean {
    return this.all === 0;
  }

  /** Number of calls that are not urgent. */
  get waitingCalls(): number {
    return this.notUrgent;
  }

  /** {@link waitingCalls} of one group. */
  waitingCallsOf(key: string): number {
    return this.groups.get(key)?.others.length ?? 0;
  }

  /** Number of calls that are not urgent, without those of locked groups. */
  get readyCalls(): number {
    return this.ready;
  }

  /** Number of groups with such calls. */
  get readyGroups(): number {
    return this.readyIn;
  }

  /** {@link readyCalls} of one group. */
  readyCallsOf(key: string): number {
    const group = this.groups.get(key);
    return group ? readyCallsIn(group) : 0;
  }

  /** Whether calls of the group wait. */
  has(key: string): boolean {
    const group = this.groups.get(key);
    return group !== undefined && !isEmpty(group);
  }

  /** Puts a call at the end of its group's queue. */
  add(waiting: Waiting<Call, Result>): void {
    const group = this.groupOf(waiting.group);
    this.count(group, -1);
    (waiting.isUrgent ? group.urgent : group.others).push(waiting);
    this.count(group, 1);
  }

  /** Returns calls of locked groups to the front of their queues. */
  putBack(taken: readonly Waiting<Call, Result>[]): void {
    for (const waiting of taken.toReversed()) {
      const group = this.groupOf(waiting.group);
      this.count(group, -1);
      (waiting.isUrgent ? group.urgent : group.others).unshift(waiting);
      group.isLocked = true;
      this.count(group, 1);
    }
  }

  /** From now on {@link take} takes no calls of this group, or takes them again. */
  setApart(key: string, isApart: boolean): void {
    const group = this.groupOf(key);
    this.count(group, -1);
    group.isApart = isApart;
    this.count(group, 1);
    this.forgetEmpty(key, group);
  }

  /** Takes at most `limit` calls, with an equal share for each group, or one of each. */
  take(limit: number, isOnePerGroup: boolean): Waiting<Call, Result>[] {
    const taken: Waiting<Call, Result>[] = [];
    for (;;) {
      const ready = [...this.groups].filter(([, group]) => !group.isApart && !isEmpty(group));
      if (ready.length === 0) return taken;
      const equal = Math.max(1, Math.floor((limit - taken.length) / ready.length));
      const share = isOnePerGroup ? 1 : equal;
      for (const [key, group] of ready) {
        if (taken.length === limit) return taken;
        this.move(group, taken, Math.min(share, limit - taken.length));
        // Round robin: the group moves to the end.
        this.groups.delete(key);
        this.groups.set(key, group);
        this.forgetEmpty(key, group);
      }
      if (isOnePerGroup) return taken;
    }
  }

  /** Takes at most `limit` calls of one group, apart or not. */
  takeOf(key: string, limit: number): Waiting<Call, Result>[] {
    const taken: Waiting<Call, Result>[] = [];
    const group = this.groups.get(key);
    if (group) this.move(group, taken, limit);
    return taken;
  }

  /** Takes all calls past their deadline. */
  takeLate(nowMs: number): Waiting<Call, Result>[] {
    const late: Waiting<Call, Result>[] = [];
    for (const [key, group] of this.groups) {
      this.count(group, -1);
      group.urgent = withoutLate(group.urgent, nowMs, late);
      group.others = withoutLate(group.others, nowMs, late);
      this.count(group, 1);
      this.forgetEmpty(key, group);
    }
    return late;
  }

  private move(group: Group<Call, Result>, to: Waiting<Call, Result>[], limit: number): void {
    this.count(group, -1);
    const first = group.urgent.splice(0, limit);
    to.push(...first, ...group.others.splice(0, limit - first.length));
    group.isLocked = false;
    this.count(group, 1);
  }

  private groupOf(key: string): Group<Call, Result> {
    let group = this.groups.get(key);
    if (group === undefined) {
      group = { urgent: [], others: [], isApart: false, isLocked: false };
      this.groups.set(key, group);
    }
    return group;
  }

  /** Adds the group's calls to the counts; with `sign` -1, removes them. */
  private count(group: Group<Call, Result>, sign: 1 | -1): void {
    const ready = readyCallsIn(group);
    this.all += sign * (group.urgent.length + group.others.length);
    this.notUrgent += sign * group.others.length;
    this.ready += sign * ready;
    if (ready > 0) this.readyIn += sign;
  }

  private forgetEmpty(key: string, group: Group<Call, Result>): void {
    if (isEmpty(group) && !group.isApart) this.groups.delete(key);
  }
}

function isEmpty({ urgent, others }: AnyGroup): boolean {
  return urgent.length + others.length === 0;
}

function readyCallsIn({ others, isApart, isLocked }: AnyGroup): number {
  return isApart || isLocked ? 0 : others.length;
}

/** The calls whose deadline has not passed; the others are added to `late`. */
function withoutLate<Call, Result>(
  queue: Waiting<Call, Result>[],
  nowMs: number,
  late: Waiting<Call, Result>[],
): Waiting<Call, Result>[] {
  if (queue.every(({ deadlineMs }) => deadlineMs > nowMs)) return queue;
  late.push(...queue.filter(({ deadlineMs }) => deadlineMs <= nowMs));
  return queue.filter(({ deadlineMs }) => deadlineMs > nowMs);
}
