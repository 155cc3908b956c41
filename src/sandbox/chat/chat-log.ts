/** This many completions are remembered; older ones are dropped. */
const MAX_CHATS = 1000;
const MAX_PROMPT_CHARACTERS = 200;

/** What a completion contained, to compare it with what was charged. */
export interface ChatRecord {
  readonly id: string;
  /** Beginning of the last user message. */
  readonly prompt: string;
  readonly isStream: boolean;
  readonly promptTokens: number;
  /** Reasoning tokens that it reports in addition to the tokens it sent. */
  readonly reasoningTokens: number;
  /** Tokens sent so far; in a stream each is one chunk. */
  completionTokens: number;
  /** True once the answer was sent to its end. */
  isComplete: boolean;
  /** True when the client left before the end. */
  isAborted: boolean;
}

/** Remembers what the last completions contained. */
export class ChatLog {
  private readonly records: ChatRecord[] = [];

  open(
    facts: Pick<ChatRecord, 'id' | 'prompt' | 'isStream' | 'promptTokens' | 'reasoningTokens'>,
  ): ChatRecord {
    const prompt = facts.prompt.slice(0, MAX_PROMPT_CHARACTERS);
    const record = { ...facts, prompt, completionTokens: 0, isComplete: false, isAborted: false };
    this.records.push(record);
    if (this.records.length > MAX_CHATS) this.records.shift();
    return record;
  }

  /** The last completions, newest first. */
  last(limit: number): ChatRecord[] {
    return this.records.slice(-limit).reverse();
  }

  clear(): void {
    this.records.length = 0;
  }
}
