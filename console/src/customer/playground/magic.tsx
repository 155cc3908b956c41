import type { FilledBody } from './fields.js';

/** A way in which the sandbox fails: its words, and what follows. `of`: the operations it has an effect on; absent: all. */
interface MagicFault {
  readonly word: string;
  readonly effect: string;
  readonly of?: RegExp;
}

const TASKS = /dubbing|music\/generations|videos/;
const CALLS = /chat|responses|messages|embeddings|images|audio\/(?!dubbing)/;
const CHATS = /chat|responses|messages/;

/** Ways to fail, of those in docs/guides/sandbox.md. */
const MAGIC_FAULTS: readonly MagicFault[] = [
  { word: 'status=429', effect: 'the provider is busy' },
  { word: 'status=503', effect: 'the provider is down' },
  { word: 'status=400', effect: 'the provider refuses the request' },
  { word: 'delay=5000', effect: 'the answer begins after 5 seconds' },
  { word: 'hang', effect: 'no answer comes' },
  { word: 'reset', effect: 'the connection is cut before the work is accepted' },
  { word: 'lost-answer', effect: 'the work is accepted, and its answer is lost' },
  { word: 'empty', effect: 'an empty answer', of: CALLS },
  { word: 'break-body', effect: 'the answer is cut off', of: CALLS },
  { word: 'pace=200', effect: 'each token takes 0.2 seconds', of: CHATS },
  { word: 'break-after=5', effect: 'a stream is cut after 5 tokens', of: CHATS },
  { word: 'error-after=5', effect: 'a stream has an error after 5 tokens', of: CHATS },
  { word: 'task-ms=10000', effect: 'the work takes 10 seconds', of: TASKS },
  { word: 'task-fails', effect: 'the work fails at its end', of: TASKS },
  { word: 'no-result', effect: 'the work ends without a result', of: TASKS },
];

const TEXT_FIELDS = ['prompt', 'input', 'messages', 'text', 'lyrics'] as const;
const URL_FIELDS = ['audio_url', 'source_url'] as const;
/** Fields of a message or line whose text reaches the provider. */
const SPOKEN = ['text', 'content'] as const;

/** The body with a word of the sandbox in its first text, in the address of its recording, or in the name of its file. */
export function withMagic(body: FilledBody, word: string): FilledBody {
  const magic = `[[sandbox:${word}]]`;
  for (const name of TEXT_FIELDS) {
    const value = body.fields[name];
    if (value !== undefined && !isUpload(body)) {
      return { ...body, fields: { ...body.fields, [name]: spoken(value, magic) } };
    }
  }
  for (const name of URL_FIELDS) {
    const url = body.fields[name];
    if (typeof url !== 'string') continue;
    const marked = `${url}${url.includes('?') ? '&' : '?'}try=${encodeURIComponent(magic)}`;
    return { ...body, fields: { ...body.fields, [name]: marked } };
  }
  const files = Object.entries(body.files).map(([name, file]) => [
    name,
    new File([file], `${magic} ${file.name}`, { type: file.type }),
  ]);
  return { ...body, files: Object.fromEntries(files) as FilledBody['files'] };
}

/** The text of an alignment stays at the gateway: its recording carries the word. */
const isUpload = ({ fields, files }: FilledBody): boolean =>
  'file' in files || 'audio_url' in fields;

/** A text, or the last text of a list, with the word behind it. */
function spoken(value: unknown, magic: string): unknown {
  if (typeof value === 'string') return `${value} ${magic}`;
  if (Array.isArray(value)) return value.toSpliced(-1, 1, spoken(value.at(-1), magic));
  if (typeof value !== 'object' || value === null) return value;
  const field = SPOKEN.find((name) => name in value);
  return field === undefined
    ? value
    : { ...value, [field]: spoken((value as Record<string, unknown>)[field], magic) };
}

/** Makes the sandbox fail in a chosen way. */
export function MagicMenu(props: {
  readonly path: string;
  readonly word: string;
  readonly onWord: (word: string) => void;
}) {
  const { path, word, onWord } = props;
  const offered = MAGIC_FAULTS.filter(({ of }) => of?.test(path) ?? true);
  return (
    <label class="field">
      <span>Make it fail</span>
      <select value={word} onChange={(event) => onWord(event.currentTarget.value)}>
        <option value="">No: answer as usual</option>
        {offered.map((fault) => (
          <option value={fault.word}>
            {fault.word}: {fault.effect}
          </option>
        ))}
      </select>
      <small>
        Puts a word into the request that the sandbox obeys. A real provider only reads it.
      </small>
    </label>
  );
}
