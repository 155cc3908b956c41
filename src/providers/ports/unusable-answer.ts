/**
 * A vendor's answer cannot be used, or not be told to this caller: it is a failure of the provider. `code` is our own
 * word for the record, such as `too_many_tool_calls`.
 */
export class UnusableAnswer extends Error {
  override readonly name = 'UnusableAnswer';

  constructor(readonly code: string) {
    super(`the answer cannot be used: ${code}`);
  }
}
