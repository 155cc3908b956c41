/** One outcome a caller of a process was told of; `id` is the execution, or the key of a credit. */
export interface Acknowledgement {
  /** `refused`: the caller was told that the call failed for want of the database. */
  readonly kind: 'held' | 'settled' | 'released' | 'credited' | 'refused';
  readonly accountId: string;
  readonly id: string;
  /** What was held, charged or credited, in micro-USD. */
  readonly amount: number;
}
