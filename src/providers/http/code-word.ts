/** The longest code word, in characters (decision G-96). */
const MAX_CHARS = 64;
/** A code of more words is a sentence. */
const MAX_SPACES = 2;
const CODE = /^[a-z0-9_.]+$/;
const LETTER = /[a-z]/;
const NUMBER = /^-?\d{1,10}$/;
/** A part of a code that is longer than this and holds a digit is an id. */
const MAX_ID_CHARS = 20;
/** Words that say nothing of the reason. */
const EMPTY_WORDS: ReadonlySet<string> = new Set(['error', 'failed', 'fail', 'unknown', 'null']);
/** Vendors and their models, of which callers see the neutral words only (API: Conventions). */
const VENDOR =
  /eleven|openai|gpt|ttapi|suno|scribe|anthropic|claude|gemini|google|vertex|azure|openrouter|deepseek|mistral|minimax|kling|moonshot|bytedance|byteplus|seedance|runway|replicate|deepgram|cartesia|assemblyai|bedrock|groq|grok|cerebras|fireworks|ollama|vllm|litellm|qwen|dashscope|alibaba|aliyun|hailuo|huggingface|flowmusic|(^|[_.])(xai|aws|fal|kimi|glm|veo|sora|luma|cohere|llama)([_.]|$)/;
/** The ends of hosts, behind which a port may have lost its colon, and those that still show after dots became `_`. */
const HOST =
  /\.(com|net|org|io|ai|dev|app|cloud|cn|co|me|eu|us|uk|de|info|local|internal|lan|svc|test|example)(?![a-z])|_(com|net|org|io|dev|cn|co|eu|uk|lan|svc|example)\d*$/;
/** Vendors' own codes have a group and a name at most. */
const MAX_DOTS = 1;
/** Three numbers with dots between them, as in an address or a version. */
const ADDRESS = /\d\.\d{1,20}\.\d/;

/**
 * A vendor's code in our form: small letters, digits, `_` and `.`, at most 64 characters. Undefined if it is not a code
 * word but a sentence, a number or an id (decision G-96).
 */
export function codeWordOf(code: string): string | undefined {
  const text = code.trim();
  if (text.length > MAX_CHARS || text.split(/\s+/).length > MAX_SPACES + 1) return undefined;
  const word = text
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replaceAll(/([A-Z])([A-Z][a-z])/g, '$1_$2')
    .replaceAll(/[\s-]+/g, '_')
    .toLowerCase();
  const isCode = word.length <= MAX_CHARS && CODE.test(word) && LETTER.test(word);
  const hasId = text.split(/[_.\s-]/).some((part) => part.length > MAX_ID_CHARS && /\d/.test(part));
  return isCode && !hasId && !word.endsWith('.') ? word : undefined;
}

/** {@link codeWordOf}; undefined also for what may be a host or an address. */
function plainWordOf(code: string): string | undefined {
  const word = codeWordOf(code);
  if (word === undefined || HOST.test(word) || ADDRESS.test(word)) return undefined;
  const dots = word.split('.').length - 1;
  // Codes have a dot or hyphens, hosts have both.
  return dots > MAX_DOTS || (dots > 0 && code.includes('-')) ? undefined : word;
}

/** A plain code word that callers may see: it names no vendor and no provider (decisions G-13, G-96). */
export function publicWordOf(code: string, provider: string): string | undefined {
  const word = plainWordOf(code);
  if (word === undefined || EMPTY_WORDS.has(word) || VENDOR.test(word)) return undefined;
  return word.includes(provider.toLowerCase().replaceAll('-', '_')) ? undefined : word;
}

/**
 * A vendor's code for the log, as it was written: a plain word or a number. Some vendors write sentences there, which may
 * quote anything.
 */
export function loggedCodeOf(code: string): string | undefined {
  return plainWordOf(code) !== undefined || NUMBER.test(code) ? code : undefined;
}
