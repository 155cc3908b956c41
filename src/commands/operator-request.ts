/** Options by their names on the command line. */
export type Options = Readonly<Record<string, string | boolean | undefined>>;

/** A command as it was typed, and who typed it. */
export interface OperatorRequest {
  readonly name: string;
  readonly words: readonly string[];
  readonly options: Options;
  /** For the record of changes, such as `cli:root`. */
  readonly actor: string;
  /** Whether the command line takes texts in pieces; those of older versions do not. */
  readonly takesPieces?: true;
}

/** An answer that is text of which more follows behind the cursor. */
export interface TextPage {
  readonly text: string;
  readonly next_cursor: string;
}

/** Takes the next piece of a long text and resolves when it was passed on. Rejects when nobody takes it any more. */
export type Print = (piece: string) => Promise<void>;

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
 * The reply: an answer, with sentences for the operator beside it; the reason for a failure in one sentence; how the command is used,
 * if it was typed wrongly; or what the operator has to agree to (`--yes`) before the command is done. `printed`: the answer was a
 * text that went out in pieces before.
 */
export type OperatorReply =
  | { readonly answer: unknown; readonly notes?: readonly string[] }
  | { readonly printed: true }
  /** `isUnknown`: nothing has the name or id in the command. */
  | { readonly error: string; readonly isUnknown?: true }
  | { readonly usage: string }
  | Question;

/** The commands that take an idempotency key. */
const KEYED: readonly string[] = ['account:credit', 'execution:refund', 'task:refund'];

/** Whether the command takes an idempotency key. */
export const takesKey = (name: string): boolean => KEYED.includes(name);

/** How to run a command again that may have been done; empty for commands without an idempotency key. */
export function howToRepeat({ name, options }: OperatorRequest): string {
  const key = options['idempotency-key'];
  if (!takesKey(name) || typeof key !== 'string') return '';
  return ` Run again with --idempotency-key ${key}, it is done once.`;
}
