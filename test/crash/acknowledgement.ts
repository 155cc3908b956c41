/** One outcome that a caller of a process was told; `id` is the execution, or the key of a credit. */
export interface Acknowledgement {
  /**
   * `refused`: the caller was told that the call failed because the database was down. `left`: it left before it was told anything,
   * so that any end of the call is right, as long as the books are.
   */
  readonly kind: 'held' | 'settled' | 'released' | 'credited' | 'refused' | 'left';
  readonly accountId: string;
  readonly id: string;
  /** What was held, charged or credited, in micro-USD. */
  readonly amount: number;
}
