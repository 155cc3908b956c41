/** One word that the sandbox obeys where it reads `[[sandbox:NAME]]` or `[[sandbox:NAME=ARGUMENT]]`. */
interface MagicInput {
  readonly name: string;
  /** The text after `=`; absent for words without an argument. */
  readonly argument?: string;
  readonly effect: string;
}

/**
 * The magic inputs of the sandbox. They are read from every text of a request (prompt, name, URL, file name, message,
 * form field), also where a URL writes the brackets as `%5B` and `%5D`. They are read from the beginning of an uploaded
 * file too, so that a comment tag can carry them. Several may be combined.
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
  { name: 'reset', effect: 'cuts the connection before the work is accepted' },
  { name: 'lost-answer', effect: 'accepts the work, then cuts the connection before the answer' },
  {
    name: 'late-answer',
    argument: 'MS',
    effect: 'accepts the work, then waits before the answer begins',
  },
  { name: 'html', effect: 'answers 200 with an HTML page' },
  { name: 'json', effect: 'answers 200 with a JSON object of no meaning' },
  { name: 'empty', effect: 'answers 200 with an empty body' },
  {
    name: 'huge',
    effect: 'answers 200 with 64 MB, then cuts the connection; a file announces 4 GB',
  },
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
  {
    name: 'break-event',
    argument: 'N',
    effect: 'stream of a Messages or Gemini model: cuts the connection after N events',
  },
  {
    name: 'refuse',
    effect:
      'chat of models that can refuse: the model refuses to answer; jobs of a vendor of a file, with task-fails: it refused the content',
  },
  {
    name: 'reasoning',
    argument: 'N',
    effect: 'chat: reports N tokens of unseen reasoning beside those it sends',
  },
  { name: 'no-usage', effect: 'chat, embeddings: leaves out the usage numbers' },
  {
    name: 'zero-usage',
    effect:
      'chat, embeddings: reports usage of zero, which beside text is no report: the tokens are counted',
  },
  {
    name: 'url',
    effect:
      'images: answers with a URL instead of the picture; videos: redirects to a URL of the file',
  },
  { name: 'no-data', effect: 'images: answers without any picture' },
  { name: 'images', argument: 'N', effect: 'images: answers with at most N pictures' },
  {
    name: 'task-ms',
    argument: 'MS',
    effect: 'asynchronous work: done after this long instead of one second',
  },
  { name: 'task-fails', effect: 'asynchronous work: reports failure when it is done' },
  {
    name: 'late-success',
    argument: 'MS',
    effect: 'asynchronous work with task-fails: this long after the failure it reports success',
  },
  {
    name: 'task-state',
    argument: 'WORD',
    effect: 'asynchronous work: reports this state until it is done',
  },
  {
    name: 'task-progress',
    argument: 'N',
    effect: 'asynchronous work: reports this progress until it is done, such as 101',
  },
  { name: 'tracks', argument: 'N', effect: 'songs: so many tracks instead of two' },
  {
    name: 'no-result',
    effect: 'asynchronous work: reports success without a result',
  },
  {
    name: 'poll',
    argument: 'FAULT',
    effect:
      'asynchronous work: every question for its state gets this status, or hang, reset, html, json, empty, huge, break-body, hang-body',
  },
  { name: 'polls', argument: 'N', effect: 'only the first N questions are spoiled by poll' },
  {
    name: 'file',
    argument: 'FAULT',
    effect: 'asynchronous work: every fetch of the finished file gets this fault, as with poll',
  },
  { name: 'files', argument: 'N', effect: 'only the first N fetches are spoiled by file' },
] as const satisfies readonly MagicInput[];

/** Name of a magic input. */
export type MagicName = (typeof MAGIC_INPUTS)[number]['name'];

const MARK = '[[sandbox:';
const ESCAPED_MARK = /%5B%5Bsandbox(?::|%3A)(.*?)%5D%5D/gi;
const WORD = /\[\[sandbox:([a-z-]+)(?:=([^\]]{0,100}))?\]\]/g;
/** The beginning of what was probably meant as a magic input. */
const ATTEMPT = /\[\[\s?sandbox[^\]]{0,40}/i;
/** The texts that each kind of argument may have. */
const ARGUMENTS = {
  CODE: /^[45]\d\d$/,
  MS: /^\d{1,9}$/,
  N: /^\d{1,9}$/,
  SECONDS: /^\d{1,9}$/,
  WORD: /./,
  FAULT: /^([45]\d\d|hang|reset|html|json|empty|huge|break-body|hang-body)$/,
  none: /^$/,
} as const;
const KINDS: ReadonlyMap<string, keyof typeof ARGUMENTS> = new Map(
  MAGIC_INPUTS.map((input) => [input.name, 'argument' in input ? input.argument : 'none']),
);

/** The magic inputs of one request. */
export class Magic {
  private constructor(
    private readonly words: ReadonlyMap<string, string>,
    /** The beginning of the first mark that has not the form of a magic input. */
    private readonly malformed?: string,
  ) {}

  private static readonly none = new Magic(new Map());

  /** The magic inputs written in a text. */
  static read(text: string): Magic {
    const plain = text.replace(ESCAPED_MARK, (_, word: string) => `${MARK}${unescapeWord(word)}]]`);
    if (!ATTEMPT.test(plain)) return Magic.none;
    const words = new Map<string, string>();
    for (const [, name = '', argument = ''] of plain.matchAll(WORD)) words.set(name, argument);
    return new Magic(words, ATTEMPT.exec(plain.replace(WORD, ''))?.[0]);
  }

  /** These words with their arguments. */
  static of(words: Readonly<Record<string, string>>): Magic {
    return new Magic(new Map(Object.entries(words)));
  }

  /** A text without its magic inputs, as it is spoken, sung or drawn. */
  static strip(text: string): string {
    return text.includes(MARK) ? text.replace(WORD, '').trim() : text;
  }

  /** The words as a text that contains them. */
  toString(): string {
    return [...this.words].map(([name, argument]) => `${MARK}${name}=${argument}]]`).join('');
  }

  /**
   * What is wrong with the first word that is not as `MAGIC_INPUTS` describes it, or has not its form, so that a typing
   * error in a test is found.
   */
  get fault(): string | undefined {
    if (this.malformed !== undefined) {
      return `A magic input has the form [[sandbox:name]] or [[sandbox:name=argument]], not ${this.malformed}`;
    }
    for (const [name, argument] of this.words) {
      const kind = KINDS.get(name);
      if (kind === undefined) return `Unknown magic input: ${name}`;
      if (!ARGUMENTS[kind].test(argument)) return `Wrong argument of the magic input ${name}`;
    }
    return undefined;
  }

  has(name: MagicName): boolean {
    return this.words.has(name);
  }

  /** The argument; undefined without one. */
  text(name: MagicName): string | undefined {
    const argument = this.words.get(name);
    return argument === '' ? undefined : argument;
  }

  /** The argument as a whole number within bounds; undefined when the word is absent or the argument is no number. */
  number(name: MagicName, max: number): number | undefined {
    const argument = this.words.get(name);
    if (argument === undefined || !/^\d{1,9}$/.test(argument)) return undefined;
    return Math.min(max, Number(argument));
  }
}

function unescapeWord(word: string): string {
  return word.replace(/%3D/gi, '=');
}
