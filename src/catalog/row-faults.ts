/** Everything that is wrong with an entry of the overlay. */
export class RowFaults extends Error {
  constructor(readonly faults: readonly string[]) {
    super(faults.join('; '));
  }
}
