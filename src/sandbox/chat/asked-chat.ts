import type { JsonRecord } from '../http/json.js';

/** A function the model may call. */
export interface OfferedTool {
  readonly name: string;
  readonly parameters: unknown;
}

/** What the sandbox reads of a conversation, whichever protocol it came in. */
export interface AskedChat {
  readonly model: string;
  /** Text of every message, in order. */
  readonly texts: readonly string[];
  readonly lastRole: string;
  readonly lastText: string;
  readonly lastUserText: string;
  readonly imageCount: number;
  readonly isStream: boolean;
  readonly maxTokens: number | undefined;
  readonly stops: readonly string[];
  readonly tools: readonly OfferedTool[];
  /** `auto`, `none`, `required`, or the name of the one function that has to be called. */
  readonly toolChoice: string;
  /** The format of the answer, as OpenAI writes `response_format`. */
  readonly responseFormat: JsonRecord | undefined;
}

/** A turn of a conversation as a vendor's endpoint reads it. */
interface ReadTurn {
  readonly role: string;
  readonly text: string;
  readonly isToolAnswer: boolean;
}

/** Who said what last, and what the user asked last; empty texts where nobody did. */
export function lastTurn(
  turns: readonly ReadTurn[],
): Pick<AskedChat, 'lastRole' | 'lastText' | 'lastUserText'> {
  const last = turns.at(-1);
  const question = turns.findLast(({ role, isToolAnswer }) => role === 'user' && !isToolAnswer);
  return {
    lastRole: last?.isToolAnswer === true ? 'tool' : (last?.role ?? ''),
    lastText: last?.text ?? '',
    lastUserText: question?.text ?? '',
  };
}
