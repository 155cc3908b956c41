import type { Face } from '../faces.js';

interface Saying {
  readonly content?: string | null;
  readonly tool_calls?: readonly Piece[];
}
interface Piece {
  readonly index?: number;
  readonly function?: { readonly name?: string; readonly arguments?: string };
}
interface Choice {
  readonly delta?: Saying;
  readonly message?: Saying;
  readonly finish_reason: string | null;
}
interface Body {
  readonly choices?: readonly Choice[];
  readonly error?: object;
}

const TOOL = {
  type: 'function',
  function: { name: 'get_weather', parameters: { type: 'object', properties: {} } },
};

/** Chat completions. */
export const CHAT: Face = {
  name: 'chat',
  path: '/v1/chat/completions',
  body: (model, stream) => ({
    model,
    stream,
    ...(stream && { stream_options: { include_usage: true } }),
    max_tokens: 100,
    messages: [{ role: 'user', content: 'What is the weather in Riga?' }],
    tools: [TOOL],
  }),
  readStream(text) {
    const data = text
      .split('\n')
      .filter((line) => line.startsWith('data: '))
      .map((line) => line.slice(6));
    const bodies = data.filter((each) => each !== '[DONE]').map((each) => JSON.parse(each) as Body);
    return {
      ...understood(bodies.flatMap(({ choices = [] }) => choices)),
      isWhole: data.at(-1) === '[DONE]',
      hasError: bodies.some(({ error }) => error !== undefined),
    };
  },
  readJson: (json) => ({
    ...understood((json as Body).choices ?? []),
    isWhole: true,
    hasError: false,
  }),
};

function understood(choices: readonly Choice[]) {
  const sayings = choices.map(({ delta, message }) => delta ?? message ?? {});
  const calls = new Map<number, { name: string; text: string }>();
  const pieces = sayings.flatMap(({ tool_calls: list = [] }) =>
    list.map((piece, position) => ({ index: position, ...piece })),
  );
  for (const { index, function: called } of pieces) {
    const { name, text } = calls.get(index) ?? { name: '', text: '' };
    calls.set(index, { name: name + (called?.name ?? ''), text: text + (called?.arguments ?? '') });
  }
  return {
    text: sayings.map(({ content }) => content ?? '').join(''),
    calls: [...calls.values()].map(({ name, text }) => ({ name, arguments: parsed(text) })),
  };
}

/** Arguments of a stream that broke may be incomplete. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}
