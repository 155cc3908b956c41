import type { RunOfCall } from '../../admission/admitted-call.js';

/** The distinct runs of the calls of one statement, which names each by its position. */
export class RunPositions {
  readonly ids: string[] = [];
  /** The accounts of the runs. */
  readonly accountIds: string[] = [];
  private readonly positions = new Map<string, Map<string, number>>();

  /** The positions of the runs of these calls, from 1; null where a call has none. Empty where no call has one. */
  column(
    calls: readonly { readonly accountId: string; readonly run?: RunOfCall | undefined }[],
  ): (number | null)[] {
    if (calls.every(({ run }) => run === undefined)) return [];
    return calls.map(({ accountId, run }) => (run ? this.positionOf(accountId, run.id) : null));
  }

  private positionOf(accountId: string, id: string): number {
    let ofAccount = this.positions.get(accountId);
    if (!ofAccount) this.positions.set(accountId, (ofAccount = new Map<string, number>()));
    const known = ofAccount.get(id);
    if (known !== undefined) return known;
    this.ids.push(id);
    this.accountIds.push(accountId);
    ofAccount.set(id, this.ids.length);
    return this.ids.length;
  }
}
