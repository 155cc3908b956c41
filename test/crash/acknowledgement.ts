/** One outcome that a caller of a process was told; `id` is the execution, or the key of a credit. */
export interface Acknowledgement {
  /** `refused`: the caller was told that the call failed because of the database. */
  readonly kind: 'held' | 'settled' | 'released' | 'credited' | 'refused';
  readonly accountId: string;
  readonly id: string;
  /** What was held, charged or credited, in micro-USD. */
  readonly amount: number;
}
