/** Options by their names on the command line. */
export type Options = Readonly<Record<string, string | boolean | undefined>>;

/** A command as it was typed, and who typed it. */
export interface OperatorRequest {
  readonly name: string;
  readonly words: readonly string[];
  readonly options: Options;
  /** For the record of changes, such as `cli:root`. */
  readonly actor: string;
}

/** An answer that is text of which more follows behind the cursor. */
export interface TextPage {
  readonly text: string;
  readonly next_cursor: string;
}

/** What a command is about to do, which an operator reads and agrees to. */
export interface Question {
  /** Sentences. */
  readonly asks: string;
  /** The same in full, for commands about many things. They print it also where nobody can be asked. */
  readonly plan?: object;
  /** True for commands that move no money: where nobody can be asked they are done. */
  readonly scriptsGoAhead?: boolean;
}

/**
 * The reply: an answer, the reason for a failure in one sentence, the usage of the commands if the name is unknown, or what the
 * operator has to agree to (`--yes`) before the command is done.
 */
export type OperatorReply =
  { readonly answer: unknown } | { readonly error: string } | { readonly usage: string } | Question;

/** The commands that take an idempotency key, by what they do. */
export const KEYED = {
  credit: 'account:credit',
  refundExecution: 'execution:refund',
  refundTask: 'task:refund',
} as const;

/** Whether the command takes an idempotency key. */
export const takesKey = (name: string): boolean => Object.values<string>(KEYED).includes(name);

/** How to run a command again that may have been done; empty for commands without an idempotency key. */
export function howToRepeat({ name, options }: OperatorRequest): string {
  const key = options['idempotency-key'];
  if (!takesKey(name) || typeof key !== 'string') return '';
  return ` Run again with --idempotency-key ${key}, it is done once.`;
}
