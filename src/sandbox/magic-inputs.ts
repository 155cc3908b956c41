/** One word the sandbox obeys when it reads `[[sandbox:NAME]]` or `[[sandbox:NAME=ARGUMENT]]`. */
interface MagicInput {
  readonly name: string;
  /** What stands after `=`; absent for words without one. */
  readonly argument?: string;
  readonly effect: string;
}

/**
 * The sandbox's test cards. They are read from any text of a request (prompt, text, message, form field) and from
 * the first 64 KB of an uploaded file, so that a comment tag can carry them. Several may be combined.
 */
export const MAGIC_INPUTS = [
  {
    name: 'status',
    argument: 'CODE',
    effect:
      'answers with this error status (400 to 599) in the shape of the provider; 429 carries Retry-After',
  },
  { name: 'code', argument: 'WORD', effect: "the provider's error word that goes with status" },
  {
    name: 'retry-after',
    argument: 'SECONDS',
    effect: 'value of Retry-After for status=429 and 503',
  },
  { name: 'delay', argument: 'MS', effect: 'waits before the answer begins' },
  { name: 'hang', effect: 'never answers' },
  {
    name: 'hang-body',
    effect: 'sends the head and the first piece of the body, then nothing more',
  },
  { name: 'break-body', effect: 'cuts the connection after the first piece of the body' },
  { name: 'reset', effect: 'cuts the connection before the answer begins' },
  { name: 'html', effect: 'answers 200 with an HTML page' },
  { name: 'json', effect: 'answers 200 with a JSON object of no meaning' },
  { name: 'empty', effect: 'answers 200 with an empty body' },
  { name: 'slow', argument: 'MS', effect: 'waits between the pieces of the body' },
  { name: 'wrong-format', effect: 'audio in another format than the one asked for' },
  {
    name: 'instant',
    effect: 'speech: a prepared half-second clip whatever the text, for load tests',
  },
  { name: 'tokens', argument: 'N', effect: 'chat: a reply of exactly N tokens' },
  { name: 'pace', argument: 'MS', effect: 'chat: waits before each token' },
  { name: 'break-after', argument: 'N', effect: 'chat stream: cuts the connection after N tokens' },
  { name: 'hang-after', argument: 'N', effect: 'chat stream: says nothing more after N tokens' },
  {
    name: 'error-after',
    argument: 'N',
    effect: 'chat stream: an error event after N tokens, then the end',
  },
  { name: 'no-usage', effect: 'chat: leaves out the usage numbers' },
  { name: 'zero-usage', effect: 'chat: reports usage of zero' },
  { name: 'url', effect: 'images: answers with a URL instead of the picture' },
  { name: 'no-data', effect: 'images: answers without any picture' },
  {
    name: 'task-ms',
    argument: 'MS',
    effect: 'asynchronous work: done after this long instead of one second',
  },
  { name: 'task-fails', effect: 'asynchronous work: reports failure when it is done' },
] as const satisfies readonly MagicInput[];

/** Name of a magic input. */
export type MagicName = (typeof MAGIC_INPUTS)[number]['name'];

const MARK = '[[sandbox:';
const WORD = /\[\[sandbox:([a-z-]+)(?:=([^\]]{0,100}))?\]\]/g;
const NAMES: ReadonlySet<string> = new Set(MAGIC_INPUTS.map((input) => input.name));

/** The magic inputs of one request. */
export class Magic {
  private constructor(private readonly words: ReadonlyMap<string, string>) {}

  private static readonly none = new Magic(new Map());

  /** The magic inputs written in a text. */
  static read(text: string): Magic {
    if (!text.includes(MARK)) return Magic.none;
    const words = new Map<string, string>();
    for (const [, name = '', argument = ''] of text.matchAll(WORD)) words.set(name, argument);
    return new Magic(words);
  }

  /** A text without its magic inputs: what is spoken, sung or drawn. */
  static strip(text: string): string {
    return text.includes(MARK) ? text.replace(WORD, '').trim() : text;
  }

  /** The first word that is none of `MAGIC_INPUTS`, so that a typing error in a test is not overlooked. */
  get unknown(): string | undefined {
    return [...this.words.keys()].find((name) => !NAMES.has(name));
  }

  has(name: MagicName): boolean {
    return this.words.has(name);
  }

  /** The argument; undefined without one. */
  text(name: MagicName): string | undefined {
    const argument = this.words.get(name);
    return argument === '' ? undefined : argument;
  }

  /** The argument as a whole number within bounds; undefined without the word or without a number. */
  number(name: MagicName, max: number): number | undefined {
    const argument = this.words.get(name);
    if (argument === undefined || !/^\d{1,9}$/.test(argument)) return undefined;
    return Math.min(max, Number(argument));
  }
}
