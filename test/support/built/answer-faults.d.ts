/** An answer of a gateway; the names of headers are in small letters. */
interface GivenAnswer {
  readonly method: string;
  /** Without a query. */
  readonly path: string;
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  /** Text; undefined where it is long or no text. */
  readonly body: string | undefined;
}

/** How an answer differs from `openapi.json`, a sentence for each way. */
export declare function answerFaults(answer: GivenAnswer): string[];
