/** One server-sent event. */
interface ServerEvent {
  readonly name: string;
  readonly data: string;
}

interface TextPiece {
  readonly content?: string | null;
  readonly text?: string;
}

interface ToldError {
  readonly message?: string;
  readonly code?: string | null;
}

/** What is read of the events of chats, responses and messages. */
export interface StreamedEvent {
  readonly type?: string;
  readonly choices?: readonly { readonly delta?: TextPiece }[];
  readonly delta?: string | TextPiece;
  readonly error?: ToldError | null;
  readonly message?: string;
  readonly code?: string | null;
  readonly response?: { readonly error?: ToldError | null };
}

/** The events of a stream as they come. The request behind it ends when nobody reads on. */
export async function* eventsOf(response: Response): AsyncGenerator<ServerEvent> {
  if (response.body === null) return;
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  try {
    for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
      const parts = `${rest}${piece.value}`.split('\n\n');
      rest = parts.pop() ?? '';
      for (const part of parts) {
        const event = eventIn(part);
        if (event !== undefined) yield event;
      }
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

function eventIn(part: string): ServerEvent | undefined {
  const lines = part.split('\n');
  const valuesOf = (field: string) =>
    lines
      .filter((line) => line.startsWith(`${field}:`))
      .map((line) => line.slice(field.length + 1).trimStart());
  const data = valuesOf('data');
  return data.length === 0
    ? undefined
    : { name: valuesOf('event')[0] ?? 'message', data: data.join('\n') };
}
