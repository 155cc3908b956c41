import type { RunOfCall } from '../../admission/admitted-call.js';

/** The distinct runs of the calls of one statement, which names each by its position. */
export class RunPositions {
  readonly ids: string[] = [];
  /** The accounts of the runs. */
  readonly accountIds: string[] = [];
  private readonly positions = new Map<string, number>();

  /** The positions of the runs of these calls, from 1; null where a call has none. Empty where no call has one. */
  column(
    calls: readonly { readonly accountId: string; readonly run?: RunOfCall | undefined }[],
  ): (number | null)[] {
    if (calls.every(({ run }) => run === undefined)) return [];
    return calls.map(({ accountId, run }) => (run ? this.positionOf(accountId, run.id) : null));
  }

  private positionOf(accountId: string, id: string): number {
    const key = `${accountId} ${id}`;
    const known = this.positions.get(key);
    if (known !== undefined) return known;
    this.ids.push(id);
    this.accountIds.push(accountId);
    this.positions.set(key, this.ids.length);
    return this.ids.length;
  }
}
